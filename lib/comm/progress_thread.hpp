// The one thread of a process that drives its groups' operations: the caller computes meanwhile. It sleeps while
// nothing is in flight (but for a look at the roll calls now and then) and while sockets have nothing to say; what must be
// polled it polls as gently as the groups' poll policies ask.
//
// A caller that would only wait drives its operation itself (run()): handing it to another thread and being woken by it
// costs more than a small reduction.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/operation.hpp>
#include <mastic/comm/poll_policy.hpp>
#include <mastic/comm/request.hpp>
#include <mastic/comm/roll_call.hpp>

namespace mastic::comm {

struct ChannelOptions {
    int operations_in_flight = 2;
    PollPolicy poll = PollPolicy::sleep;  // resolved: not automatic
    PollPolicy caller_poll =
        PollPolicy::yield;  // of a caller that drives its operation itself: spin or yield
    WaitLimits limits{};
};

struct Submission {
    std::unique_ptr<Operation> operation;
    std::shared_ptr<void> owner{};  // of its buffers; null: the caller sees to it
    std::string name;
    int priority = 0;
    int lane = 0;            // operations of one lane run one after the other
    bool exclusive = false;  // may block: runs alone, in order of submission over all channels
};

class ProgressThread {
  public:
    class Channel;  // the operations of one group

    ProgressThread();
    ~ProgressThread();  // shutdown(1 s)
    ProgressThread(const ProgressThread&) = delete;
    ProgressThread& operator=(const ProgressThread&) = delete;

    std::shared_ptr<Channel> open_channel(const ChannelOptions& options);
    // From now on stalls of this channel name the ranks that are missing (see roll_call.hpp), and other ranks'
    // questions about it are answered; between two looks at the post an eighth of the stall report passes. All
    // channels have the same post.
    void join_roll_call(const std::shared_ptr<Channel>& channel, RollMembers members,
                        std::shared_ptr<RollPost> post);
    // Thread-safe. Throws Error(collective) after a time-out on this channel, Error(usage) after shutdown.
    Request submit(const std::shared_ptr<Channel>& channel, Submission submission);
    // Submits and waits; if nothing is in flight, the calling thread drives the operation, and hands it over when it has
    // not got further for a while.
    void run(const std::shared_ptr<Channel>& channel, Submission submission);
    // Runs `function` on the progress thread as an exclusive operation.
    Request call(const std::shared_ptr<Channel>& channel, std::string name, std::function<void()> function);

    // From any thread: what is in flight or waits on this channel fails with Error(collective) `reason`, and nothing can be
    // started on it any more. A request fails when no step of its channel is under way, so its buffers may be freed then;
    // only that of a blocking operation, which may never come back, fails at once, and keeps its buffers in use.
    void abandon(const std::shared_ptr<Channel>& channel, const std::string& reason);

    // What event-driven operations wait for. Only operations use it, while they are driven.
    EventLoop& event_loop();

    // Lets operations in flight finish for at most `bound`; fails the rest. False if some were abandoned
    // (their buffers are still in use) or if the thread is caught in a blocking operation: then it is left behind.
    bool shutdown(Seconds bound);

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}  // namespace mastic::comm
