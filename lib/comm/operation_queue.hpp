// The operations of one group: which one starts next. Pure; the progress thread locks around it.
//
// Order: MPI matches the collectives of one communicator by the order of their calls, and ranks receive
// operations at different times, so "the most urgent of those that wait" is not the same operation on all ranks.
// Therefore:
// - an operation belongs to a lane (a communicator, a set of streams), the same on all ranks (see lane_choice.hpp), and in
//   a lane one operation runs after the other; this makes any order between lanes match;
// - at most `limit` operations run; the oldest unfinished one of the group is always among them, the other places
//   go by priority, then by age; what waits in front of an urgent operation in its lane inherits the urgency.
//
// So no choice can deadlock: the oldest operation that some rank has not finished runs on every rank that has
// submitted it. An exclusive operation (one that blocks) is a fence: it waits for everything older and holds back
// everything younger.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include <mastic/comm/operation.hpp>
#include <mastic/comm/request.hpp>

namespace mastic::comm {

struct QueuedOperation {
    std::uint64_t ticket = 0;  // age, over all queues of the thread
    std::uint64_t number = 0;  // age in its queue, from 0; given by push()
    int lane = 0;
    int priority = 0;
    bool exclusive = false;
    std::shared_ptr<void> owner{};         // of the buffers, or null
    std::unique_ptr<Operation> operation;  // ends before its buffers
    std::shared_ptr<Request::State> state;
    Clock::time_point started{};  // zero while it waits
};

class OperationQueue {
  public:
    explicit OperationQueue(int limit) : limit_(limit) {}

    void push(QueuedOperation entry);
    std::uint64_t next_number() const { return next_number_; }
    // The number of an operation that runs outside of the queue; adopt() takes it in later, as running.
    std::uint64_t take_number() { return next_number_++; }
    QueuedOperation* adopt(QueuedOperation entry);
    // Running or waiting; null if there is none.
    const QueuedOperation* oldest() const;
    // Moves the next operation with a ticket below `fence` from waiting to running; null if none may start.
    QueuedOperation* start_next(std::uint64_t fence);
    // The oldest exclusive operation that waits, if any.
    std::optional<std::uint64_t> waiting_fence() const;
    // Moves the exclusive operation with this ticket to running.
    QueuedOperation* start_exclusive(std::uint64_t ticket);
    bool has_older_than(std::uint64_t ticket) const;

    std::list<QueuedOperation>& running() { return running_; }
    const std::list<QueuedOperation>& running() const { return running_; }
    std::list<QueuedOperation>& waiting() { return waiting_; }
    bool empty() const { return running_.empty() && waiting_.empty(); }
    std::string describe(Clock::time_point now) const;

  private:
    using Position = std::list<QueuedOperation>::iterator;
    bool lane_is_free(const QueuedOperation& entry) const;
    int inherited_priority(const QueuedOperation& entry) const;
    QueuedOperation* move_to_running(Position position);

    int limit_;
    std::uint64_t next_number_ = 0;
    std::list<QueuedOperation> waiting_;  // by age
    std::list<QueuedOperation> running_;
};

}  // namespace mastic::comm
