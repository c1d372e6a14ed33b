// The socket on which a rank is called by others, and the connections that have not proved yet to be theirs: those that
// do not begin with a good hello in time are closed. Meanwhile only so many are accepted; others wait in the kernel.
#pragma once

#include <functional>
#include <list>

#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/tcp/hello.hpp>
#include <mastic/comm/tcp/listening_socket.hpp>
#include <mastic/core/descriptor.hpp>

namespace mastic::comm {

struct ListenerLimits {
    Clock::duration hello_within = std::chrono::seconds(5);
    std::size_t most_unproved = 256;
};

class TcpListener : private EventHandler {
  public:
    // Called with a connection that proved to be of the group; false: that rank must not call, or has called before.
    using Accept = std::function<bool(const Hello&, Descriptor)>;

    // Listens on a free port of `address`. Throws Error(environment). `loop` must outlive it.
    TcpListener(EventLoop& loop, const SocketAddress& address, const ListenerLimits& limits = {});
    TcpListener(EventLoop& loop, ListeningSocket socket, const ListenerLimits& limits = {});
    ~TcpListener() override;
    TcpListener(const TcpListener&) = delete;
    TcpListener& operator=(const TcpListener&) = delete;

    const SocketAddress& address() const { return socket_.address(); }  // with the port
    // Nothing is accepted before.
    void start(const Token& token, Accept accept);
    // To be called now and then: closes the connections whose time is over.
    void tick(Clock::time_point now);

  private:
    struct Unproved;

    void ready(bool readable, bool writable) override;
    void accept_all();
    void proceed(Unproved& connection);
    void reject(Unproved& connection, const char* why);
    void warn_once(const SocketAddress& caller, const char* why);
    void forget_ended();

    EventLoop& loop_;
    ListenerLimits limits_;
    ListeningSocket socket_;
    Token token_{};
    Accept accept_;
    std::list<Unproved> unproved_;  // the oldest first
    bool has_callers_ = false;      // as far as is known: until accept() says EAGAIN
    bool warned_ = false;
};

}  // namespace mastic::comm
