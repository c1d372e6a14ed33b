#include <utility>

#include <mastic/comm/collective/collective_group.hpp>
#include <mastic/comm/collective/setup.hpp>
#include <mastic/comm/mpi/detail/check.hpp>
#include <mastic/comm/mpi/detail/lanes.hpp>
#include <mastic/comm/mpi/detail/mpi_transport.hpp>
#include <mastic/comm/mpi/detail/operations.hpp>
#include <mastic/comm/mpi/detail/runtime.hpp>
#include <mastic/comm/mpi/session.hpp>

namespace mastic::comm::detail {

namespace {

class MpiGroup : public CollectiveGroup {
  public:
    MpiGroup(std::shared_ptr<Runtime> runtime, std::shared_ptr<ProgressThread::Channel> channel,
             std::shared_ptr<Lanes> lanes, const GroupOptions& options)
        : CollectiveGroup({runtime, &runtime->progress}, std::move(channel), options),
          runtime_(std::move(runtime)),
          lanes_(std::move(lanes)),
          blocking_(find_algorithm(options.algorithm).blocking) {}

    using CollectiveGroup::channel_options;
    using CollectiveGroup::lanes;

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

    std::unique_ptr<Group> split(int color, int key) override { return split(color, key, options_); }

    std::string description() const override {
        const PollPolicy poll =
            resolve(options_.poll, runtime_->placement.cores_per_rank, options_.compute_threads);
        std::string text = mpi_library_version() + ", " + plural(size(), "rank") + " on " +
                           plural(lanes_->nodes, "node") + ", ";
        if (collectives_) {
            text += collectives_->description() + " (" + options_.algorithm + ")";
        } else {
            text += blocking_ ? "native-blocking"
                              : "native-pipelined (segment " + mastic::to_string(pipeline().segment) +
                                    ", depth " + std::to_string(options_.depth) + ")";
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

    Native native_allreduce(int lane, BufferView buffer, ReduceOp op,
                            const OperationOptions& options) override {
        const bool blocking =
            options.choice != nullptr ? find_algorithm(options.choice->algorithm).blocking : blocking_;
        return {blocking ? make_blocking_allreduce(comm(lane), buffer, op, runtime_->reductions)
                         : make_pipelined_allreduce(comm(lane), buffer, op, runtime_->reductions,
                                                    pipeline(options)),
                blocking};
    }
    Native native_reduce_scatter(int lane, BufferView send, BufferView receive, ReduceOp op,
                                 const OperationOptions&) override {
        return {make_reduce_scatter(comm(lane), send, receive, op, runtime_->reductions)};
    }
    Native native_broadcast(int lane, BufferView buffer, int root, const OperationOptions& options) override {
        return {make_broadcast(comm(lane), buffer, root, pipeline(options))};
    }
    Native native_allgather(int lane, BufferView send, BufferView receive,
                            const OperationOptions& options) override {
        return {make_allgather(comm(lane), send, receive, pipeline(options))};
    }
    Native native_barrier(int lane, const OperationOptions&) override { return {make_barrier(comm(lane))}; }

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
    MPI_Comm comm(int lane) const { return lanes_->comms[static_cast<std::size_t>(lane)]; }

    std::shared_ptr<Runtime> runtime_;
    std::shared_ptr<Lanes> lanes_;
    bool blocking_;
};

}  // namespace

std::unique_ptr<Group> make_mpi_group(std::shared_ptr<Runtime> runtime, MPI_Comm parent,
                                      const GroupOptions& options) {
    validate(options);
    const auto channel =
        runtime->progress.open_channel(MpiGroup::channel_options(options, runtime->placement.cores_per_rank));
    auto lanes = std::make_shared<Lanes>();
    const int count = MpiGroup::lanes(options);
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
