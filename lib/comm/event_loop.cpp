#include <mastic/comm/event_loop.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <span>
#include <string>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <mastic/core/error.hpp>

namespace mastic::comm {

static_assert(std::atomic<bool>::is_always_lock_free, "wake() must be safe in a signal handler");

namespace {

constexpr std::uint32_t edge_triggered = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t means_readable = EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP;
constexpr std::uint32_t means_hung_up = EPOLLRDHUP | EPOLLERR | EPOLLHUP;
constexpr std::uint32_t means_writable = EPOLLOUT | EPOLLERR | EPOLLHUP;

Descriptor opened(int descriptor, const char* what) {
    if (descriptor < 0) {
        throw Error(ExitCode::environment, std::string(what) + " failed: " + std::strerror(errno),
                    "raise the limit of open files (ulimit -n)");
    }
    return Descriptor(descriptor);
}

// Returns when one of the descriptors is readable, or after `most`.
void wait_until_readable(std::span<pollfd> descriptors, Clock::duration most) {
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(most);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(nanoseconds);
    const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (nanoseconds - seconds).count()};
    ::ppoll(descriptors.data(), descriptors.size(), &timeout, nullptr);
}

}  // namespace

EventLoop::EventLoop()
    : sockets_(opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

void EventLoop::add(int socket, EventHandler& handler) {
    const auto index = static_cast<std::size_t>(socket);
    entries_.resize(std::max(entries_.size(), index + 1));
    Entry& entry = entries_[index];
    entry.handler = &handler;
    ++entry.generation;
    epoll_event event{};
    event.events = edge_triggered;
    event.data.u64 = std::uint64_t{entry.generation} << 32 | static_cast<std::uint32_t>(socket);
    if (::epoll_ctl(sockets_.get(), EPOLL_CTL_ADD, socket, &event) != 0) {
        entry.handler = nullptr;
        throw Error(ExitCode::environment, std::string("epoll_ctl failed: ") + std::strerror(errno),
                    "each connection needs a watch: see /proc/sys/fs/epoll/max_user_watches");
    }
}

void EventLoop::remove(int socket) {
    entries_[static_cast<std::size_t>(socket)].handler = nullptr;
    ::epoll_ctl(sockets_.get(), EPOLL_CTL_DEL, socket, nullptr);
}

void EventLoop::wait(Clock::duration most) {
    const bool woken = clear_wake();
    if (dispatch() || woken || most <= Clock::duration::zero()) {
        return;
    }
    // epoll_wait counts in milliseconds, and epoll_pwait2 is missing before Linux 5.11.
    std::array<pollfd, 2> both{{{sockets_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    wait_until_readable(both, most);
    if (both[1].revents != 0) {
        drain_wake();
    }
    if (both[0].revents != 0) {
        dispatch();
    }
}

void EventLoop::wait_for_wake(Clock::duration most) {
    if (clear_wake() || most <= Clock::duration::zero()) {
        return;
    }
    std::array<pollfd, 1> wake_only{{{wake_.get(), POLLIN, 0}}};
    wait_until_readable(wake_only, most);
    if (wake_only[0].revents != 0) {
        drain_wake();
    }
}

void EventLoop::wake() {
    if (woken_.exchange(true)) {
        return;
    }
    const int before = errno;  // of the code that a signal interrupts
    const std::uint64_t one = 1;
    // It cannot fail: the counter never comes near its limit.
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
    errno = before;
}

// False without a system call if there is nothing to clear.
bool EventLoop::clear_wake() {
    const bool woken = woken_.load();
    if (woken) {
        drain_wake();
    }
    return woken;
}

void EventLoop::drain_wake() {
    // In this order: a wake() in between writes again, so none is lost.
    woken_.store(false);
    std::uint64_t count = 0;
    // Nothing to read: a wake() is between its two steps, and its write will end a later wait early.
    [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
}

// True if a handler was told something.
EventHandler* EventLoop::handler_of(std::uint64_t key) const {
    const Entry& entry = entries_[static_cast<std::uint32_t>(key)];
    return entry.generation == key >> 32 ? entry.handler : nullptr;
}

bool EventLoop::dispatch() {
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(sockets_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        // A handler before this one may have removed it and even opened another socket with its number.
        if (EventHandler* handler = handler_of(event.data.u64)) {
            handler->ready((event.events & means_readable) != 0, (event.events & means_writable) != 0);
        }
        if (EventHandler* handler = handler_of(event.data.u64); handler && (event.events & means_hung_up) != 0) {
            handler->hung_up();
        }
    }
    return count > 0;
}

}  // namespace mastic::comm
