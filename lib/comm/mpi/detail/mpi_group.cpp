#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <mastic/comm/collective/setup.hpp>
#include <mastic/comm/lane_choice.hpp>
#include <mastic/comm/mpi/detail/check.hpp>
#include <mastic/comm/mpi/detail/lanes.hpp>
#include <mastic/comm/mpi/detail/mpi_transport.hpp>
#include <mastic/comm/mpi/detail/operations.hpp>
#include <mastic/comm/mpi/detail/runtime.hpp>
#include <mastic/comm/mpi/session.hpp>
#include <mastic/comm/reduction.hpp>

namespace mastic::comm::detail {

namespace {

constexpr int urgent_lanes = 4;

std::string name_or(const OperationOptions& options, const char* fallback) {
    return options.name.empty() ? fallback : std::string(options.name);
}

std::string plural(int count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void require_host(const BufferView& buffer) {
    if (buffer.memory != MemoryKind::host) {
        throw Error(ExitCode::usage, "this group reduces host memory only", "choose the nccl backend for GPUs");
    }
}

std::shared_ptr<void> allocate_private(std::size_t bytes) {
    constexpr std::size_t alignment = 64;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, std::max(rounded, alignment));
    if (memory == nullptr) {
        throw Error(ExitCode::memory, "cannot allocate " + human(Bytes{bytes}) + " for a reduction buffer",
                    "use a smaller model or more ranks on more nodes");
    }
    std::memset(memory, 0, rounded);
    return {memory, [](void* pointer) { std::free(pointer); }};
}

class MpiGroup : public Group {
  public:
    MpiGroup(std::shared_ptr<Runtime> runtime, std::shared_ptr<ProgressThread::Channel> channel,
             std::shared_ptr<Lanes> lanes, const GroupOptions& options)
        : runtime_(std::move(runtime)),
          channel_(std::move(channel)),
          lanes_(std::move(lanes)),
          options_(options),
          blocking_(find_algorithm(options.algorithm).blocking),
          lane_choice_(options.operations_in_flight, urgent_lanes) {}

    ~MpiGroup() override {
        const auto release = [lanes = lanes_, collectives = std::move(collectives_)]() mutable {
            collectives.reset();
            free_lanes(*lanes);
        };
        try {
            runtime_->progress.call(channel_, "free communicators", release);
        } catch (const Error&) {
            // The session has ended or the group is broken: the communicators go with the process.
        }
    }

    // Collective: what the options ask for beyond MPI's own operations.
    void set_up() {
        const Topology topology(lanes_->node_of_rank, rank());
        const SetupSource source{.exchange = *this,
                                 .split = [this](int color, int key) { return split_native(color, key); },
                                 .make_message_transport = [this] { return make_message_transport(); },
                                 .loop = runtime_->progress.event_loop(),
                                 .lanes = static_cast<int>(lanes_->comms.size()),
                                 .cores_to_spare = runtime_->placement.cores_per_rank >= 1};
        CollectiveSetup setup = set_up_collectives(source, topology, options_);
        collectives_ = std::move(setup.collectives);
        selection_ = std::move(setup.selection);
    }

    int rank() const override { return lanes_->rank; }
    int size() const override { return lanes_->size; }

    Request start_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) override {
        return submit(plan_allreduce(buffer, op, options));
    }
    void allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) override {
        run(plan_allreduce(buffer, op, options));
    }
    Request start_reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                 const OperationOptions& options) override {
        return submit(plan_reduce_scatter(send, receive, op, options));
    }
    void reduce_scatter(BufferView send, BufferView receive, ReduceOp op, const OperationOptions& options) override {
        run(plan_reduce_scatter(send, receive, op, options));
    }
    Request start_broadcast(BufferView buffer, int root, const OperationOptions& options) override {
        return submit(plan_broadcast(buffer, root, options));
    }
    void broadcast(BufferView buffer, int root, const OperationOptions& options) override {
        run(plan_broadcast(buffer, root, options));
    }
    Request start_allgather(BufferView send, BufferView receive, const OperationOptions& options) override {
        return submit(plan_allgather(send, receive, options));
    }
    void allgather(BufferView send, BufferView receive, const OperationOptions& options) override {
        run(plan_allgather(send, receive, options));
    }
    Request start_barrier(const OperationOptions& options) override { return submit(plan_barrier(options)); }
    void barrier() override { run(plan_barrier({})); }

    std::unique_ptr<Group> split(int color, int key) override { return split(color, key, options_); }

    std::shared_ptr<void> allocate(std::size_t bytes) override {
        std::shared_ptr<void> memory;
        if (collectives_ && collectives_->node() != nullptr) {
            memory = collectives_->node()->allocate(bytes);
        }
        return memory ? memory : allocate_private(bytes);
    }

    std::string description() const override {
        const PollPolicy poll =
            resolve(options_.poll, runtime_->placement.cores_per_rank, options_.compute_threads);
        std::string text =
            mpi_library_version() + ", " + plural(size(), "rank") + " on " + plural(lanes_->nodes, "node") + ", ";
        if (collectives_) {
            text += collectives_->description() + " (" + options_.algorithm + ")";
        } else {
            text += blocking_ ? "native-blocking"
                              : "native-pipelined (segment " + mastic::to_string(pipeline().segment) + ", depth " +
                                    std::to_string(options_.depth) + ")";
        }
        return text + ", poll " + comm::to_string(poll);
    }

  private:
    std::unique_ptr<Group> split_native(int color, int key) {
        GroupOptions native = options_;
        native.transport = TransportKind::native;
        native.algorithm = "native-pipelined";
        return split(color, key, native);
    }

    std::unique_ptr<Group> split(int color, int key, const GroupOptions& options) {
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
        auto group = make_mpi_group(runtime_, *part, options);
        runtime_->progress.call(channel_, "free a communicator", [part] { MPI_Comm_free(part.get()); })
            .wait();
        return group;
    }

    Submission plan_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) {
        require_host(buffer);
        require_supported(buffer.type, op);
        const MPI_Comm comm = next_comm(buffer.bytes(), options);
        if (const Choice* choice = chosen(Collective::allreduce, buffer, options)) {
            return submission(collectives_->make_allreduce(lane_, buffer, op, *choice), "allreduce", options);
        }
        const bool blocking = options.choice != nullptr ? find_algorithm(options.choice->algorithm).blocking : blocking_;
        auto native = blocking
                          ? make_blocking_allreduce(comm, buffer, op, runtime_->reductions)
                          : make_pipelined_allreduce(comm, buffer, op, runtime_->reductions, pipeline(options));
        return submission(std::move(native), "allreduce", options, blocking);
    }

    Submission plan_reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                   const OperationOptions& options) {
        require_host(send);
        require_host(receive);
        require_supported(receive.type, op);
        require_parts(send, receive, "reduce-scatter");
        const MPI_Comm comm = next_comm(send.bytes(), options);
        if (const Choice* choice = chosen(Collective::reduce_scatter, send, options)) {
            return submission(collectives_->make_reduce_scatter(lane_, send, receive, op, *choice), "reduce-scatter",
                              options);
        }
        return submission(make_reduce_scatter(comm, send, receive, op, runtime_->reductions), "reduce-scatter",
                          options);
    }

    Submission plan_broadcast(BufferView buffer, int root, const OperationOptions& options) {
        require_host(buffer);
        if (root < 0 || root >= size()) {
            throw Error(ExitCode::usage,
                        "no rank " + std::to_string(root) + " in a group of " + plural(size(), "rank"));
        }
        const MPI_Comm comm = next_comm(buffer.bytes(), options);
        if (const Choice* choice = chosen(Collective::broadcast, buffer, options)) {
            return submission(collectives_->make_broadcast(lane_, buffer, root, *choice), "broadcast", options);
        }
        return submission(make_broadcast(comm, buffer, root, pipeline(options)), "broadcast", options);
    }

    Submission plan_allgather(BufferView send, BufferView receive, const OperationOptions& options) {
        require_host(send);
        require_host(receive);
        require_parts(receive, send, "allgather");
        const MPI_Comm comm = next_comm(receive.bytes(), options);
        if (const Choice* choice = chosen(Collective::allgather, receive, options)) {
            return submission(collectives_->make_allgather(lane_, send, receive, *choice), "allgather", options);
        }
        return submission(make_allgather(comm, send, receive, pipeline(options)), "allgather", options);
    }

    Submission plan_barrier(const OperationOptions& options) {
        return submission(make_barrier(next_comm(0, options)), "barrier", options);
    }

    void require_parts(const BufferView& whole, const BufferView& part, const char* operation) const {
        if (whole.type != part.type || whole.count != part.count * static_cast<std::size_t>(size())) {
            throw Error(ExitCode::usage, std::string("an ") + operation + " on " + plural(size(), "rank") +
                                             " needs one buffer of " + std::to_string(size()) +
                                             " parts and one of 1 part, of the same type: these have " +
                                             std::to_string(whole.count) + " and " + std::to_string(part.count) +
                                             " elements");
        }
    }

    // Null: MPI's own.
    const Choice* chosen(Collective collective, const BufferView& buffer, const OperationOptions& options) const {
        if (!collectives_) {
            return nullptr;
        }
        const Choice* choice = options.choice != nullptr ? options.choice
                                                         : selection_.find(collective, Bytes{buffer.bytes()});
        return choice == nullptr || choice->transport == TransportKind::native ? nullptr : choice;
    }

    std::unique_ptr<Transport> make_message_transport() {
        auto messages = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
        const MPI_Comm parent = lanes_->comms.front();
        runtime_->progress
            .call(channel_, "communicator of messages",
                  [messages, parent] {
                      check(MPI_Comm_dup(parent, messages.get()), "MPI_Comm_dup");
                      check(MPI_Comm_set_errhandler(*messages, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
                  })
            .wait();
        return make_mpi_transport(*messages, options_.depth);
    }

    Pipeline pipeline(const OperationOptions& options = {}) const {
        const Bytes segment = options.choice != nullptr ? options.choice->segment : options_.segment;
        const int depth = options.choice != nullptr ? options.choice->depth : options_.depth;
        return {segment.count == 0 ? native_segment : segment, depth};
    }
    MPI_Comm next_comm(std::size_t bytes, const OperationOptions& options) {
        lane_ = lane_choice_.next(options.priority, Bytes{bytes});
        return lanes_->comms[static_cast<std::size_t>(lane_)];
    }

    Submission submission(std::unique_ptr<Operation> operation, const char* name, const OperationOptions& options,
                          bool exclusive = false) const {
        return {.operation = std::move(operation),
                .name = name_or(options, name),
                .priority = options.priority,
                .lane = lane_,
                .exclusive = exclusive};
    }
    Request submit(Submission submission) { return runtime_->progress.submit(channel_, std::move(submission)); }
    void run(Submission submission) { runtime_->progress.run(channel_, std::move(submission)); }

    std::shared_ptr<Runtime> runtime_;
    std::shared_ptr<ProgressThread::Channel> channel_;
    std::shared_ptr<Lanes> lanes_;
    GroupOptions options_;
    bool blocking_;
    std::shared_ptr<Collectives> collectives_;  // null: native operations only
    SelectionMap selection_;
    LaneChoice lane_choice_;
    int lane_ = 0;  // of the operation that is being started
};

}  // namespace

std::unique_ptr<Group> make_mpi_group(std::shared_ptr<Runtime> runtime, MPI_Comm parent,
                                      const GroupOptions& options) {
    validate(options);
    const double cores_per_rank = runtime->placement.cores_per_rank;
    const auto channel = runtime->progress.open_channel(
        {.operations_in_flight = options.operations_in_flight,
         .poll = resolve(options.poll, cores_per_rank, options.compute_threads),
         .caller_poll = cores_per_rank >= 1 ? PollPolicy::spin : PollPolicy::yield,
         .limits = options.limits});
    auto lanes = std::make_shared<Lanes>();
    const int count = LaneChoice(options.operations_in_flight, urgent_lanes).lanes();
    const GroupStart mine{runtime->placement.node, runtime->placement.rank, runtime->groups_started++};
    runtime->progress
        .submit(channel,
                {.operation = make_lane_creation(lanes, parent, count, mine), .name = "start of a group"})
        .wait();
    runtime->progress.join_roll_call(channel, {lanes->group_name, lanes->rank, lanes->processes},
                                     runtime->roll_post);
    auto group = std::make_unique<MpiGroup>(std::move(runtime), channel, lanes, options);
    group->set_up();
    return group;
}

}  // namespace mastic::comm::detail
