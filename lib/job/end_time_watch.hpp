// Sites and users change time limits while jobs run (scontrol update TimeLimit): the end is asked for again now and then.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <mastic/core/duration.hpp>
#include <mastic/job/deadline.hpp>

namespace mastic::job {

// Calls `ask` in each interval and `changed` with an end that is known and another than the last one, both on a thread of
// its own: training never waits for Slurm. Only the destructor may wait for one call of `ask`, which bounds itself.
class EndTimeWatch {
  public:
    using Ask = std::function<EndTime()>;
    using Changed = std::function<void(const EndTime&)>;

    EndTimeWatch(EndTime first, Ask ask, Changed changed, Seconds interval = Seconds(60));
    ~EndTimeWatch();
    EndTimeWatch(const EndTimeWatch&) = delete;
    EndTimeWatch& operator=(const EndTimeWatch&) = delete;

  private:
    void watch(EndTime last, Seconds interval);
    bool ended_within(Seconds interval);

    Ask ask_;
    Changed changed_;
    std::mutex mutex_;
    std::condition_variable woken_;
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace mastic::job
