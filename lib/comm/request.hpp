// What stands behind a Request: filled in by the progress thread, awaited by the caller.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include <mastic/comm/group.hpp>

namespace mastic::comm {

using Clock = std::chrono::steady_clock;

// `span` in clock ticks, at most a year, so that "no limit" does not overflow a time point.
Clock::duration to_ticks(Seconds span);

// When a wait becomes a stall.
struct WaitLimits {
    Seconds stall_report{30};  // a message each time this long has passed
    Seconds timeout{300};      // then Error(collective)
};

// Whom a request asks when it has waited too long: the queue that it came from.
class StallSource {
  public:
    virtual ~StallSource() = default;
    // The operations under way and waiting, and the ranks that are missing, for people: "'bucket 3' (started 31 s
    // ago), 'bucket 4' (waits to start); missing in 'bucket 3': rank 1 (not started)".
    virtual std::string describe_stall() const = 0;
    // After a time-out: everything that is in flight or waits fails with `reason`, and nothing can be started any more. A request fails once its
    // buffers are not used any more, at once or after a step.
    virtual void declare_broken(const std::string& reason) = 0;
};

struct Request::State {
    State(std::string operation_name, WaitLimits wait_limits, std::weak_ptr<StallSource> stall_source);

    // The first of these counts.
    void complete(Seconds took);
    void fail(std::exception_ptr reason);
    bool done() const;
    void rethrow_if_failed() const;
    void wait();
    Seconds duration() const;

    const std::string name;
    const WaitLimits limits;

  private:
    void report_stall(Seconds waited) const;
    [[noreturn]] void give_up(Seconds waited);

    std::weak_ptr<StallSource> source_;
    mutable std::mutex mutex_;
    std::condition_variable finished_;
    bool done_ = false;
    Seconds duration_{0};
    std::exception_ptr error_;
};

}  // namespace mastic::comm
