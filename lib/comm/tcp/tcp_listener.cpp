#include <mastic/comm/tcp/tcp_listener.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <spdlog/spdlog.h>
#include <sys/socket.h>

namespace mastic::comm {

namespace {

bool is_trouble_of_one_caller(int error) {
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM;
}

}  // namespace

struct TcpListener::Unproved : EventHandler {
    Unproved(TcpListener& owner, Descriptor connected, Clock::time_point until)
        : listener(owner), socket(std::move(connected)), deadline(until) {
        listener.loop_.add(socket.get(), *this);
    }
    ~Unproved() override { leave_loop(); }

    void ready(bool, bool) override { listener.proceed(*this); }
    Descriptor leave_loop() {
        if (socket.valid()) {
            listener.loop_.remove(socket.get());
        }
        return std::move(socket);
    }

    TcpListener& listener;
    Descriptor socket;  // not valid: ended
    Clock::time_point deadline;
    HelloBytes hello{};
    std::size_t got = 0;
};

TcpListener::TcpListener(EventLoop& loop, const SocketAddress& address, const ListenerLimits& limits)
    : TcpListener(loop, ListeningSocket(address), limits) {}

TcpListener::TcpListener(EventLoop& loop, ListeningSocket socket, const ListenerLimits& limits)
    : loop_(loop), limits_(limits), socket_(std::move(socket)) {}

TcpListener::~TcpListener() {
    if (accept_) {
        loop_.remove(socket_.get());
    }
}

void TcpListener::start(const Token& token, Accept accept) {
    token_ = token;
    loop_.add(socket_.get(), *this);
    accept_ = std::move(accept);
}

void TcpListener::ready(bool, bool) {
    has_callers_ = true;
    accept_all();
}

void TcpListener::tick(Clock::time_point now) {
    for (Unproved& connection : unproved_) {
        if (connection.socket.valid() && now >= connection.deadline) {
            reject(connection, "said nothing in time");
        }
    }
    accept_all();
}

void TcpListener::accept_all() {
    forget_ended();
    while (has_callers_ && unproved_.size() < limits_.most_unproved) {
        Descriptor caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (caller.valid()) {
            unproved_.emplace_back(*this, std::move(caller), Clock::now() + limits_.hello_within);
            // As a rule its hello is here already.
            proceed(unproved_.back());
            forget_ended();
        } else if (errno == EAGAIN) {
            has_callers_ = false;
        } else if (!is_trouble_of_one_caller(errno)) {
            // Tried again at the next tick.
            if (!std::exchange(warned_, true)) {
                spdlog::warn(
                    "cannot accept a connection on {}: {}; raise the limit of open files (ulimit -n)",
                    address().host(), std::strerror(errno));
            }
            return;
        }
    }
}

void TcpListener::proceed(Unproved& connection) {
    while (connection.socket.valid() && connection.got < hello_bytes) {
        const ssize_t count = ::recv(connection.socket.get(), connection.hello.data() + connection.got,
                                     hello_bytes - connection.got, 0);
        if (count > 0) {
            connection.got += static_cast<std::size_t>(count);
        } else if (count < 0 && errno == EINTR) {
            continue;
        } else if (count < 0 && errno == EAGAIN) {
            return;
        } else {
            reject(connection, "ended before it said who it is");
        }
    }
    if (!connection.socket.valid()) {
        return;
    }
    const auto hello = decode_hello(connection.hello, token_);
    if (!hello) {
        reject(connection, "is not of this group");
        return;
    }
    const SocketAddress caller = SocketAddress::remote_of(connection.socket.get());
    if (!accept_(*hello, connection.leave_loop())) {
        warn_once(caller, "is of a rank that should not call, or has called before");
    }
}

void TcpListener::reject(Unproved& connection, const char* why) {
    warn_once(SocketAddress::remote_of(connection.socket.get()), why);
    connection.leave_loop();
}

// The group goes on. More warnings would fill the log when somebody scans ports.
void TcpListener::warn_once(const SocketAddress& caller, const char* why) {
    if (!std::exchange(warned_, true)) {
        spdlog::warn("closed a connection from {} to port {}: it {}; later ones are closed without a message",
                     caller.host(), address().port(), why);
    }
}

void TcpListener::forget_ended() {
    std::erase_if(unproved_, [](const Unproved& connection) { return !connection.socket.valid(); });
}

}  // namespace mastic::comm
