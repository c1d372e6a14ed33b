#include <mastic/comm/collective/collective_group.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <mastic/comm/reduction.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

constexpr int urgent_lanes = 4;

LaneChoice lane_choice(const GroupOptions& options) {
    return LaneChoice(options.operations_in_flight, urgent_lanes);
}

template <class Native>
Submission submission(Native native, const char* name, const OperationOptions& options, int lane) {
    return {.operation = std::move(native.operation),
            .owner = options.owner,
            .name = options.name.empty() ? name : std::string(options.name),
            .priority = options.priority,
            .lane = lane,
            .exclusive = native.blocking};
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

}  // namespace

CollectiveGroup::CollectiveGroup(std::shared_ptr<ProgressThread> progress,
                                 std::shared_ptr<ProgressThread::Channel> channel,
                                 const GroupOptions& options)
    : progress_(std::move(progress)),
      channel_(std::move(channel)),
      options_(options),
      lane_choice_(lane_choice(options)) {}

int CollectiveGroup::lanes(const GroupOptions& options) {
    return lane_choice(options).lanes();
}

ChannelOptions CollectiveGroup::channel_options(const GroupOptions& options, double cores_per_rank) {
    return {.operations_in_flight = options.operations_in_flight,
            .poll = resolve(options.poll, cores_per_rank, options.compute_threads),
            .caller_poll = cores_per_rank >= 1 ? PollPolicy::spin : PollPolicy::yield,
            .limits = options.limits};
}

std::string CollectiveGroup::plural(int count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

Request CollectiveGroup::start_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) {
    return submit(plan_allreduce(buffer, op, options));
}
void CollectiveGroup::allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) {
    run(plan_allreduce(buffer, op, options));
}
Request CollectiveGroup::start_reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                              const OperationOptions& options) {
    return submit(plan_reduce_scatter(send, receive, op, options));
}
void CollectiveGroup::reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                     const OperationOptions& options) {
    run(plan_reduce_scatter(send, receive, op, options));
}
Request CollectiveGroup::start_broadcast(BufferView buffer, int root, const OperationOptions& options) {
    return submit(plan_broadcast(buffer, root, options));
}
void CollectiveGroup::broadcast(BufferView buffer, int root, const OperationOptions& options) {
    run(plan_broadcast(buffer, root, options));
}
Request CollectiveGroup::start_allgather(BufferView send, BufferView receive,
                                         const OperationOptions& options) {
    return submit(plan_allgather(send, receive, options));
}
void CollectiveGroup::allgather(BufferView send, BufferView receive, const OperationOptions& options) {
    run(plan_allgather(send, receive, options));
}
Request CollectiveGroup::start_barrier(const OperationOptions& options) {
    return submit(plan_barrier(options));
}
void CollectiveGroup::barrier() {
    run(plan_barrier({}));
}

std::shared_ptr<void> CollectiveGroup::allocate(std::size_t bytes) {
    std::shared_ptr<void> memory;
    if (collectives_ && collectives_->node() != nullptr) {
        memory = collectives_->node()->allocate(bytes);
    }
    return memory ? memory : allocate_private(bytes);
}

Staging& CollectiveGroup::staging() {
    if (!options_.device) {
        throw Error(ExitCode::usage, "this group reduces host memory only",
                    "give it a device, or choose the nccl backend for GPUs");
    }
    if (!staging_) {
        staging_ = std::make_unique<Staging>(options_.device, options_.staging,
                                             [this](std::size_t bytes) { return allocate(bytes); });
    }
    return *staging_;
}

template <class Make>
CollectiveGroup::Native CollectiveGroup::on_host_or_device(const BufferView& buffer, Staging::Way way,
                                                           const Make& make) {
    if (!is_on_device(buffer)) {
        return make(buffer);
    }
    bool blocking = false;
    auto operation = staging().in_chunks(buffer, way, [&](const BufferView& host) {
        Native native = make(host);
        blocking = blocking || native.blocking;
        return std::move(native.operation);
    });
    return {std::move(operation), blocking};
}

template <class Make>
CollectiveGroup::Native CollectiveGroup::on_host_or_device(const BufferView& send, const BufferView& receive,
                                                           const Make& make) {
    if (!is_on_device(send) && !is_on_device(receive)) {
        return make(send, receive);
    }
    bool blocking = false;
    auto operation =
        staging().whole(send, receive, [&](const BufferView& host_send, const BufferView& host_receive) {
            Native native = make(host_send, host_receive);
            blocking = native.blocking;
            return std::move(native.operation);
        });
    return {std::move(operation), blocking};
}

Submission CollectiveGroup::plan_allreduce(BufferView buffer, ReduceOp op, const OperationOptions& options) {
    require_supported(buffer.type, op);
    const int lane = lane_choice_.next(options.priority, Bytes{buffer.bytes()});
    const auto make = [&](const BufferView& host) -> Native {
        if (const Choice* choice = chosen(Collective::allreduce, buffer, host, options)) {
            return {collectives_->make_allreduce(lane, host, op, *choice)};
        }
        return native_allreduce(lane, host, op, options);
    };
    return submission(on_host_or_device(buffer, Staging::Way{}, make), "allreduce", options, lane);
}

Submission CollectiveGroup::plan_reduce_scatter(BufferView send, BufferView receive, ReduceOp op,
                                                const OperationOptions& options) {
    require_supported(receive.type, op);
    require_parts(send, receive, "reduce-scatter");
    const int lane = lane_choice_.next(options.priority, Bytes{send.bytes()});
    const auto make = [&](const BufferView& host_send, const BufferView& host_receive) -> Native {
        if (const Choice* choice = chosen(Collective::reduce_scatter, send, host_send, options)) {
            return {collectives_->make_reduce_scatter(lane, host_send, host_receive, op, *choice)};
        }
        return native_reduce_scatter(lane, host_send, host_receive, op, options);
    };
    return submission(on_host_or_device(send, receive, make), "reduce-scatter", options, lane);
}

Submission CollectiveGroup::plan_broadcast(BufferView buffer, int root, const OperationOptions& options) {
    if (root < 0 || root >= size()) {
        throw Error(ExitCode::usage,
                    "no rank " + std::to_string(root) + " in a group of " + plural(size(), "rank"));
    }
    const int lane = lane_choice_.next(options.priority, Bytes{buffer.bytes()});
    const auto make = [&](const BufferView& host) -> Native {
        if (const Choice* choice = chosen(Collective::broadcast, buffer, host, options)) {
            return {collectives_->make_broadcast(lane, host, root, *choice)};
        }
        return native_broadcast(lane, host, root, options);
    };
    const bool is_root = rank() == root;
    return submission(on_host_or_device(buffer, Staging::Way{.fetch = is_root, .put = !is_root}, make),
                      "broadcast", options, lane);
}

Submission CollectiveGroup::plan_allgather(BufferView send, BufferView receive,
                                           const OperationOptions& options) {
    require_parts(receive, send, "allgather");
    const int lane = lane_choice_.next(options.priority, Bytes{receive.bytes()});
    const auto make = [&](const BufferView& host_send, const BufferView& host_receive) -> Native {
        if (const Choice* choice = chosen(Collective::allgather, receive, host_receive, options)) {
            return {collectives_->make_allgather(lane, host_send, host_receive, *choice)};
        }
        return native_allgather(lane, host_send, host_receive, options);
    };
    return submission(on_host_or_device(send, receive, make), "allgather", options, lane);
}

Submission CollectiveGroup::plan_barrier(const OperationOptions& options) {
    const int lane = lane_choice_.next(options.priority, Bytes{0});
    return submission(native_barrier(lane, options), "barrier", options, lane);
}

void CollectiveGroup::require_parts(const BufferView& whole, const BufferView& part,
                                    const char* operation) const {
    if (whole.type != part.type || whole.count != part.count * static_cast<std::size_t>(size())) {
        throw Error(ExitCode::usage, std::string("an ") + operation + " on " + plural(size(), "rank") +
                                         " needs one buffer of " + std::to_string(size()) +
                                         " parts and one of 1 part, of the same type: these have " +
                                         std::to_string(whole.count) + " and " + std::to_string(part.count) +
                                         " elements");
    }
}

const Choice* CollectiveGroup::chosen(Collective collective, const BufferView& whole, const BufferView& part,
                                      const OperationOptions& options) const {
    if (!collectives_) {
        return nullptr;
    }
    const Choice* choice = options.choice;
    if (choice == nullptr && is_on_device(whole)) {
        choice = selection_.find(collective, Bytes{whole.bytes()}, MemoryKind::device);
    }
    if (choice == nullptr) {
        choice = selection_.find(collective, Bytes{part.bytes()});
    }
    return choice == nullptr || choice->transport == TransportKind::native ? nullptr : choice;
}

void CollectiveGroup::throw_no_native() const {
    throw Error(ExitCode::usage, "this group has no native operations: " + description(),
                "choose an algorithm of its transport");
}

CollectiveGroup::Native CollectiveGroup::native_allreduce(int, BufferView, ReduceOp,
                                                          const OperationOptions&) {
    throw_no_native();
}
CollectiveGroup::Native CollectiveGroup::native_reduce_scatter(int, BufferView, BufferView, ReduceOp,
                                                               const OperationOptions&) {
    throw_no_native();
}
CollectiveGroup::Native CollectiveGroup::native_broadcast(int, BufferView, int, const OperationOptions&) {
    throw_no_native();
}
CollectiveGroup::Native CollectiveGroup::native_allgather(int, BufferView, BufferView,
                                                          const OperationOptions&) {
    throw_no_native();
}
CollectiveGroup::Native CollectiveGroup::native_barrier(int, const OperationOptions&) {
    throw_no_native();
}

}  // namespace mastic::comm
