#include <mastic/comm/tcp/connector.hpp>

#include <cerrno>

#include <sys/socket.h>

#include <mastic/comm/tcp/tcp_socket.hpp>

namespace mastic::comm {

Connector::Connector(EventLoop& loop, EventHandler& handler, const SocketAddress& to,
                     Clock::time_point deadline)
    : loop_(loop), handler_(handler), to_(to), deadline_(deadline) {
    attempt();
}

Connector::~Connector() {
    if (socket_.valid()) {
        loop_.remove(socket_.get());
    }
}

Descriptor Connector::advance(bool told) {
    if (!socket_.valid()) {
        attempt();
        return Descriptor();
    }
    if (!told) {
        return Descriptor();
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0 && SocketAddress::local_of(socket_.get()) == to_) {
        // Where nobody listens on a port of this host, the kernel may give that same port to the caller.
        error = ECONNREFUSED;
    }
    if (error != 0) {
        fail(error);
        return Descriptor();
    }
    return std::move(socket_);
}

void Connector::attempt() {
    socket_ = open_tcp_socket(to_.family());
    // Watched only once it connects: an idle socket reports a hang-up.
    if (!socket_.valid() || (::connect(socket_.get(), to_.data(), to_.size()) != 0 && errno != EINPROGRESS)) {
        last_errno_ = errno;
        socket_.close();
        return;
    }
    loop_.add(socket_.get(), handler_);
}

void Connector::fail(int error) {
    last_errno_ = error;
    loop_.remove(socket_.get());
    socket_.close();
}

}  // namespace mastic::comm
