#include <mastic/comm/tcp/ticker.hpp>

#include <cerrno>
#include <cstring>

#include <sys/timerfd.h>
#include <unistd.h>

#include <mastic/core/error.hpp>

namespace mastic::comm {

Ticker::Ticker(EventLoop& loop, Clock::duration period, std::function<void(Clock::time_point)> tick)
    : loop_(loop),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      tick_(std::move(tick)) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
    const timespec interval{.tv_sec = seconds.count(), .tv_nsec = (period - seconds).count()};
    const itimerspec times{.it_interval = interval, .it_value = interval};
    if (!timer_.valid() || ::timerfd_settime(timer_.get(), 0, &times, nullptr) != 0) {
        throw Error(ExitCode::environment, std::string("no timer: ") + std::strerror(errno),
                    "raise the limit of open files (ulimit -n)");
    }
    loop_.add(timer_.get(), *this);
}

Ticker::~Ticker() {
    loop_.remove(timer_.get());
}

void Ticker::ready(bool readable, bool) {
    std::uint64_t periods = 0;
    if (readable && ::read(timer_.get(), &periods, sizeof periods) > 0) {
        tick_(Clock::now());
    }
}

}  // namespace mastic::comm
