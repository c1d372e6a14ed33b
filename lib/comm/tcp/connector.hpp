// Connecting to an address without waiting: attempts that fail are repeated until a deadline.
#pragma once

#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/tcp/socket_address.hpp>
#include <mastic/core/descriptor.hpp>

namespace mastic::comm {

class Connector {
  public:
    // `handler` is told when an attempt has ended; then, and now and then, advance() is to be called.
    Connector(EventLoop& loop, EventHandler& handler, const SocketAddress& to, Clock::time_point deadline);
    ~Connector();
    Connector(const Connector&) = delete;
    Connector& operator=(const Connector&) = delete;

    // The connected socket, which `handler` still watches; not valid: not yet. `told`: the handler was just told.
    Descriptor advance(bool told);
    // After the deadline, without a connection.
    bool too_late(Clock::time_point now) const { return now >= deadline_; }
    int last_errno() const { return last_errno_; }  // of the last failed attempt; 0: no answer at all

  private:
    void attempt();
    void fail(int error);

    EventLoop& loop_;
    EventHandler& handler_;
    const SocketAddress to_;
    const Clock::time_point deadline_;
    Descriptor socket_;  // of the attempt under way
    int last_errno_ = 0;
};

}  // namespace mastic::comm
