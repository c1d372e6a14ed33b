#include <mastic/comm/nccl/nccl_group.hpp>

#include <string>
#include <utility>
#include <vector>

#include <mastic/comm/device/device_steps.hpp>
#include <mastic/comm/nccl/gpu_placement.hpp>
#include <mastic/comm/nccl/gpu_window.hpp>
#include <mastic/comm/nccl/version_code.hpp>
#include <mastic/comm/nccl/watched_operation.hpp>
#include <mastic/comm/progress_thread.hpp>
#include <mastic/comm/reduction.hpp>
#include <mastic/comm/sequence.hpp>
#include <mastic/comm/together.hpp>
#include <mastic/core/agreed_error.hpp>

namespace mastic::comm {
namespace {

std::string name_of(const OperationOptions& options, const char* otherwise) {
    return options.name.empty() ? otherwise : std::string(options.name);
}

class NcclGroup : public Group {
  public:
    NcclGroup(std::unique_ptr<Group> host, std::shared_ptr<Device> device, std::shared_ptr<NcclLibrary> nccl,
              const NcclGroupOptions& options)
        : host_(std::move(host)),
          device_(std::move(device)),
          nccl_(std::move(nccl)),
          options_(options),
          stream_(device_->make_stream()),
          channel_(progress_.open_channel({.operations_in_flight = 1,
                                           .poll = options.poll,
                                           .caller_poll = PollPolicy::yield,
                                           .limits = options.limits})) {}

    // What is still in flight waits for ranks that may be gone.
    ~NcclGroup() override {
        if (!progress_.shutdown(Seconds(0)) && communicator_) {
            communicator_->abort();
        }
    }
    NcclGroup(const NcclGroup&) = delete;
    NcclGroup& operator=(const NcclGroup&) = delete;

    // Collective, and not to be called again.
    void set_up() {
        place();
        connect();
        if (some_share_) {
            local_ = host_->split(placement_.local_ranks.front(), rank());
        }
        if (placement_.shared()) {
            window_ = GpuWindow::create(*local_, device_, options_.window);
        }
    }

    int rank() const override { return host_->rank(); }
    int size() const override { return host_->size(); }

    using Group::allreduce;
    using Group::start_allreduce;
    Request start_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) override {
        if (!is_on_device(buffer)) {
            return host_->start_allreduce(buffer, op, options);
        }
        require_supported(buffer.type, op);
        return submit(placement_.shared() ? shared_allreduce(buffer, op) : enqueue_allreduce(buffer, op), options,
                      "allreduce");
    }

    Request start_broadcast(BufferView buffer, int root, const OperationOptions& options) override {
        if (!is_on_device(buffer) || some_share_) {
            return host_->start_broadcast(buffer, root, options);
        }
        stream_->follow(buffer.stream);
        call_nccl([&] { communicator_->broadcast(buffer, root, *stream_); });
        return submit(make_event_step(stream_->record()), options, "broadcast");
    }

    Request start_reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                 const OperationOptions& options) override {
        return host_->start_reduce_scatter(send, receive, op, options);
    }
    Request start_allgather(BufferView send, BufferView receive, const OperationOptions& options) override {
        return host_->start_allgather(send, receive, options);
    }
    Request start_barrier(const OperationOptions& options) override { return host_->start_barrier(options); }

    std::unique_ptr<Group> split(int color, int key) override {
        auto part = host_->split(color, key);
        return part ? make_nccl_group(std::move(part), device_, nccl_, options_) : nullptr;
    }
    std::shared_ptr<void> allocate(std::size_t bytes) override { return host_->allocate(bytes); }

    std::string description() const override {
        std::string text = "NCCL " + nccl_version_text(nccl_->version()) + " on " +
                           std::to_string(placement_.leaders.size()) + " GPUs (" + device_->name() + ")";
        if (placement_.shared()) {
            text += ", " + std::to_string(placement_.local_ranks.size()) +
                    " ranks on this one reduce through " + (window_ ? "its memory" : "host memory") +
                    " first";
        }
        return text + "; host memory: " + host_->description();
    }

  private:
    void place() {
        const int version = nccl_->version();
        const std::vector<std::string> versions = host_->allgather_strings(std::to_string(version));
        for (std::size_t other = 0; other < versions.size(); ++other) {
            if (versions[other] != versions.front()) {
                throw AgreedError(ExitCode::environment,
                                  "rank 0 runs NCCL " + nccl_version_text(std::stoi(versions.front())) +
                                      " and rank " + std::to_string(other) + " NCCL " +
                                      nccl_version_text(std::stoi(versions[other])),
                                  "load the same NCCL on all nodes (LD_LIBRARY_PATH, module)");
            }
        }
        const std::vector<std::string> uuids = host_->allgather_strings(device_->uuid());
        placement_ = place_on_gpus(uuids, rank(), version);
        some_share_ = static_cast<int>(placement_.leaders.size()) < size();
    }

    void connect() {
        const std::string id = run_on_first(*host_, [this] { return nccl_->make_id(); });
        run_together(*host_, [&] {
            if (!placement_.leads(rank())) {
                return;
            }
            communicator_ = nccl_->start(id, static_cast<int>(placement_.leaders.size()), placement_.place);
            try {
                wait_until_ready(*communicator_, "the ranks did not find one another", options_.connect);
            } catch (...) {
                communicator_->abort();
                throw;
            }
        });
    }

    // What NCCL puts into the stream is there when it is ready again, which takes a while at first; only then may other work or
    // an event come behind it.
    template <class Call>
    void call_nccl(const Call& call) {
        constexpr const char* what = "an operation did not start";
        try {
            wait_until_ready(*communicator_, what, options_.limits.timeout);
            call();
            wait_until_ready(*communicator_, what, options_.limits.timeout);
        } catch (...) {
            communicator_->abort();
            throw;
        }
    }

    void reduce_among_gpus(const BufferView& buffer, ReduceOp op) {
        call_nccl([&] {
            communicator_->allreduce(buffer, op == ReduceOp::average ? ReduceOp::sum : op, *stream_);
        });
        if (op == ReduceOp::average) {
            device_->scale_to_average(*stream_, buffer, size());
        }
    }

    // Into the stream at once: so the GPU goes from one operation to the next without the host.
    std::unique_ptr<Operation> enqueue_allreduce(const BufferView& buffer, ReduceOp op) {
        stream_->follow(buffer.stream);
        reduce_among_gpus(buffer, op);
        return make_event_step(stream_->record());
    }

    // Inside the GPU, among the GPUs, inside the GPU.
    std::unique_ptr<Operation> shared_allreduce(const BufferView& buffer, ReduceOp op) {
        const ReduceOp partial = op == ReduceOp::average ? ReduceOp::sum : op;
        std::vector<std::unique_ptr<Operation>> steps;
        steps.push_back(make_event_step(device_->record(buffer.stream)));
        steps.push_back(window_ ? window_->make_reduce(buffer, partial, *stream_)
                                : make_request_step([this, buffer, partial] {
                                      return local_->start_allreduce(buffer, partial,
                                                                     {.name = "ranks of one GPU"});
                                  }));
        if (communicator_) {
            steps.push_back(
                make_stream_step(*stream_, [this, buffer, op] { reduce_among_gpus(buffer, op); }));
        }
        steps.push_back(window_ ? window_->make_broadcast(buffer, *stream_)
                                : make_request_step([this, buffer] {
                                      return local_->start_broadcast(buffer, 0, {.name = "ranks of one GPU"});
                                  }));
        return make_sequence(std::move(steps));
    }

    // Priorities do not count: NCCL wants the same order on all ranks, which is that of starting.
    Request submit(std::unique_ptr<Operation> work, const OperationOptions& options, const char* unnamed) {
        const std::string name = name_of(options, unnamed);
        auto watched = make_watched_operation(std::move(work), communicator_, name, options_.limits.timeout);
        return progress_.submit(channel_, {.operation = std::move(watched), .owner = options.owner, .name = name});
    }

    std::unique_ptr<Group> host_;
    std::shared_ptr<Device> device_;
    std::shared_ptr<NcclLibrary> nccl_;
    const NcclGroupOptions options_;
    GpuPlacement placement_;
    bool some_share_ = false;
    std::unique_ptr<Group> local_;  // the ranks of this GPU; null if no GPU is shared
    // In the order in which they are needed: the stream is drained before the windows go, after NCCL's kernels have ended.
    std::unique_ptr<GpuWindow> window_;
    std::unique_ptr<CopyStream> stream_;
    std::shared_ptr<NcclCommunicator> communicator_;  // null: another rank of this GPU leads
    ProgressThread progress_;
    std::shared_ptr<ProgressThread::Channel> channel_;
};

}  // namespace

std::unique_ptr<Group> make_nccl_group(std::unique_ptr<Group> host, std::shared_ptr<Device> device,
                                       std::shared_ptr<NcclLibrary> nccl, const NcclGroupOptions& options) {
    auto group = std::make_unique<NcclGroup>(std::move(host), std::move(device), std::move(nccl), options);
    group->set_up();
    return group;
}

}  // namespace mastic::comm
