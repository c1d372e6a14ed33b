// Waiting for sockets and for a call from another thread, without polling.
//
// Notification is edge-triggered: a handler is told once that its socket became readable or writable, and remembers it
// until a call on the socket says EAGAIN. A handler is also told what its socket can do when it is added.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <mastic/comm/request.hpp>
#include <mastic/core/descriptor.hpp>

namespace mastic::comm {

class EventHandler {
  public:
    virtual ~EventHandler() = default;
    // An error or the end of the stream counts as readable and writable: the next call on the socket says which.
    // May add and remove sockets, its own too.
    virtual void ready(bool readable, bool writable) = 0;
    // After ready(): the other end has closed, perhaps with data still to be read before that.
    virtual void hung_up() {}
};

// wake() may be called from any thread at any time, also from a signal handler; everything else by one thread at a time.
class EventLoop {
  public:
    EventLoop();  // throws Error(environment): out of descriptors

    // The handler must stay until remove(). Throws Error(environment): out of memory or of the user's epoll watches.
    void add(int socket, EventHandler& handler);
    // Before the socket is closed. The handler hears nothing from then on.
    void remove(int socket);
    // Tells handlers what happened; if nothing has, waits for at most `most` until something does or wake() is called.
    // A wake() that came before, unanswered, counts. May return early (a signal).
    void wait(Clock::duration most);
    // The same, but for wake() alone: sockets are left to another thread that waits. If two threads wait, a wake() is
    // sure to reach one of them only.
    void wait_for_wake(Clock::duration most);
    void wake();

  private:
    struct Entry {
        EventHandler* handler = nullptr;
        std::uint32_t generation = 0;  // tells a socket from an earlier one with its number
    };

    EventHandler* handler_of(std::uint64_t key) const;
    bool dispatch();
    bool clear_wake();
    void drain_wake();

    Descriptor sockets_;  // epoll
    Descriptor wake_;     // eventfd
    // Set before the eventfd is written and cleared before it is read: a second wake() and a wait need no system call.
    std::atomic<bool> woken_{false};
    std::vector<Entry> entries_;  // by descriptor
};

}  // namespace mastic::comm
