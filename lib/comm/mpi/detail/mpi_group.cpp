#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <mastic/comm/mpi/detail/check.hpp>
#include <mastic/comm/mpi/detail/lanes.hpp>
#include <mastic/comm/mpi/detail/operations.hpp>
#include <mastic/comm/mpi/detail/runtime.hpp>
#include <mastic/comm/mpi/session.hpp>

namespace mastic::comm::detail {

namespace {

constexpr int spare_lanes = 6;  // beyond the operations in flight: room for priorities to reorder

std::string name_or(const OperationOptions& options, const char* fallback) {
    return options.name.empty() ? fallback : std::string(options.name);
}

std::string plural(int count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

class MpiGroup : public Group {
  public:
    MpiGroup(std::shared_ptr<Runtime> runtime, std::shared_ptr<ProgressThread::Channel> channel,
             std::shared_ptr<Lanes> lanes, const GroupOptions& options)
        : runtime_(std::move(runtime)),
          channel_(std::move(channel)),
          lanes_(std::move(lanes)),
          options_(options),
          blocking_(find_algorithm(options.algorithm).blocking) {}

    ~MpiGroup() override {
        try {
            runtime_->progress.call(channel_, "free communicators", [lanes = lanes_] { free_lanes(*lanes); });
        } catch (const Error&) {
            // The session has ended or the group is broken: the communicators go with the process.
        }
    }

    int rank() const override { return lanes_->rank; }
    int size() const override { return lanes_->size; }

    Request start_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) override {
        require_host(buffer);
        require_supported(buffer.type, op);
        const std::string name = name_or(options, "allreduce");
        const MPI_Comm comm = next_comm();
        return blocking_
                   ? submit(make_blocking_allreduce(comm, buffer, op, runtime_->reductions), name, options)
                   : submit(make_pipelined_allreduce(comm, buffer, op, runtime_->reductions, pipeline()),
                            name, options);
    }

    Request start_broadcast(BufferView buffer, int root, const OperationOptions& options) override {
        require_host(buffer);
        if (root < 0 || root >= size()) {
            throw Error(ExitCode::usage,
                        "no rank " + std::to_string(root) + " in a group of " + plural(size(), "rank"));
        }
        return submit(make_broadcast(next_comm(), buffer, root, pipeline()), name_or(options, "broadcast"),
                      options, false);
    }

    Request start_allgather(BufferView send, BufferView receive, const OperationOptions& options) override {
        require_host(send);
        require_host(receive);
        if (send.type != receive.type || receive.count != send.count * static_cast<std::size_t>(size())) {
            throw Error(ExitCode::usage, "allgather of " + std::to_string(send.count) + " elements on " +
                                             plural(size(), "rank") + " cannot fill a buffer of " +
                                             std::to_string(receive.count));
        }
        return submit(make_allgather(next_comm(), send, receive, pipeline()), name_or(options, "allgather"),
                      options, false);
    }

    Request start_barrier(const OperationOptions& options) override {
        return submit(make_barrier(next_comm()), name_or(options, "barrier"), options, false);
    }

    std::unique_ptr<Group> split(int color, int key) override {
        auto part = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
        const MPI_Comm parent = lanes_->comms.front();
        runtime_->progress
            .call(channel_, "split of a group",
                  [part, parent, color, key] {
                      check(MPI_Comm_split(parent, color < 0 ? MPI_UNDEFINED : color, key, part.get()),
                            "MPI_Comm_split");
                  })
            .wait();
        if (*part == MPI_COMM_NULL) {
            return nullptr;
        }
        auto group = make_mpi_group(runtime_, *part, options_);
        runtime_->progress.call(channel_, "free a communicator", [part] { MPI_Comm_free(part.get()); })
            .wait();
        return group;
    }

    std::shared_ptr<void> allocate(std::size_t bytes) override {
        constexpr std::size_t alignment = 64;
        const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
        void* memory = std::aligned_alloc(alignment, std::max(rounded, alignment));
        if (memory == nullptr) {
            throw Error(ExitCode::memory,
                        "cannot allocate " + human(Bytes{bytes}) + " for a reduction buffer",
                        "use a smaller model or more ranks on more nodes");
        }
        std::memset(memory, 0, rounded);
        return {memory, [](void* pointer) { std::free(pointer); }};
    }

    std::string description() const override {
        const PollPolicy poll =
            resolve(options_.poll, runtime_->placement.cores_per_rank, options_.compute_threads);
        std::string text = mpi_library_version() + ", " + plural(size(), "rank") + " on " +
                           plural(lanes_->nodes, "node") + ", " + options_.algorithm;
        if (!blocking_) {
            text += " (segment " + mastic::to_string(options_.segment) + ", depth " +
                    std::to_string(options_.depth) + ")";
        }
        return text + ", poll " + comm::to_string(poll);
    }

  private:
    static void require_host(const BufferView& buffer) {
        if (buffer.memory != MemoryKind::host) {
            throw Error(ExitCode::usage, "native MPI reduces host memory only",
                        "choose the nccl backend for GPUs");
        }
    }
    Pipeline pipeline() const { return {options_.segment, options_.depth}; }
    int lane() const { return static_cast<int>(sequence_ % lanes_->comms.size()); }
    MPI_Comm next_comm() {
        ++sequence_;
        return lanes_->comms[static_cast<std::size_t>(lane())];
    }
    Request submit(std::unique_ptr<Operation> operation, std::string name, const OperationOptions& options,
                   bool exclusive) {
        return runtime_->progress.submit(channel_, {.operation = std::move(operation),
                                                    .name = std::move(name),
                                                    .priority = options.priority,
                                                    .lane = lane(),
                                                    .exclusive = exclusive});
    }
    Request submit(std::unique_ptr<Operation> operation, std::string name, const OperationOptions& options) {
        return submit(std::move(operation), std::move(name), options, blocking_);
    }

    std::shared_ptr<Runtime> runtime_;
    std::shared_ptr<ProgressThread::Channel> channel_;
    std::shared_ptr<Lanes> lanes_;
    GroupOptions options_;
    bool blocking_;
    std::size_t sequence_ = 0;  // operations started so far, the same on all ranks
};

}  // namespace

std::unique_ptr<Group> make_mpi_group(std::shared_ptr<Runtime> runtime, MPI_Comm parent,
                                      const GroupOptions& options) {
    validate(options);
    const PollPolicy poll = resolve(options.poll, runtime->placement.cores_per_rank, options.compute_threads);
    const auto channel = runtime->progress.open_channel({options.operations_in_flight, poll, options.limits});
    auto lanes = std::make_shared<Lanes>();
    const int count = options.operations_in_flight + spare_lanes;
    const GroupStart mine{runtime->placement.node, runtime->placement.rank, runtime->groups_started++};
    runtime->progress
        .submit(channel,
                {.operation = make_lane_creation(lanes, parent, count, mine), .name = "start of a group"})
        .wait();
    runtime->progress.join_roll_call(channel, {lanes->group_name, lanes->rank, lanes->processes},
                                     runtime->roll_post);
    return std::make_unique<MpiGroup>(std::move(runtime), channel, lanes, options);
}

}  // namespace mastic::comm::detail
