#include <mastic/job/end_time_watch.hpp>

#include <utility>

namespace mastic::job {

EndTimeWatch::EndTimeWatch(EndTime first, Ask ask, Changed changed, Seconds interval)
    : ask_(std::move(ask)), changed_(std::move(changed)), thread_([this, first = std::move(first), interval] {
          watch(first, interval);
      }) {}

EndTimeWatch::~EndTimeWatch() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    woken_.notify_all();
    thread_.join();
}

bool EndTimeWatch::ended_within(Seconds interval) {
    std::unique_lock lock(mutex_);
    return woken_.wait_for(lock, interval, [this] { return ended_; });
}

void EndTimeWatch::watch(EndTime last, Seconds interval) {
    while (!ended_within(interval)) {
        const EndTime now = ask_();
        if (now.known && now.at != last.at) {
            changed_(now);
            last = now;
        }
    }
}

}  // namespace mastic::job
