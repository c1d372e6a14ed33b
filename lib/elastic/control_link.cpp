#include <mastic/elastic/control_link.hpp>

#include <array>
#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include <mastic/comm/tcp/tcp_socket.hpp>
#include <mastic/core/error.hpp>

namespace mastic::elastic {

namespace {

Loss loss_of(int error) {
    return error == ECONNREFUSED                                                 ? Loss::refused
           : error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ? Loss::silent
                                                                                 : Loss::closed;
}

}  // namespace

ControlLink::ControlLink(comm::EventLoop& loop, const comm::SocketAddress& to, const Secret& secret,
                         Seconds patience)
    : loop_(loop),
      socket_(comm::open_tcp_socket(to.family())),
      handshake_(secret, Handshake::Side::caller),
      deadline_(comm::Clock::now() + comm::to_ticks(patience)),
      connecting_(true) {
    proof_ = handshake_.take_output();
    if (!socket_.valid() || (::connect(socket_.get(), to.data(), to.size()) != 0 && errno != EINPROGRESS)) {
        loss_ = loss_of(errno);
        socket_.close();
        return;
    }
    loop_.add(socket_.get(), *this);
}

ControlLink::ControlLink(comm::EventLoop& loop, Descriptor accepted, const Secret& secret, Seconds patience)
    : loop_(loop),
      socket_(std::move(accepted)),
      handshake_(secret, Handshake::Side::callee),
      deadline_(comm::Clock::now() + comm::to_ticks(patience)) {
    comm::set_up_connection(socket_.get(), patience);
    loop_.add(socket_.get(), *this);
}

ControlLink::~ControlLink() {
    if (socket_.valid()) {
        loop_.remove(socket_.get());
    }
}

void ControlLink::lose(Loss loss) {
    if (!loss_) {
        loss_ = loss;
    }
    if (socket_.valid()) {
        loop_.remove(socket_.get());
        socket_.close();
    }
}

Descriptor ControlLink::release() {
    loop_.remove(socket_.get());
    loss_ = Loss::closed;
    return std::move(socket_);
}

void ControlLink::send(const std::string& framed) {
    // A link on which nothing gets through for long is about to be lost: no need to keep more for it.
    constexpr std::size_t most_waiting = 4 * most_frame_bytes;
    if (!loss_ && output_.size() < most_waiting) {
        output_ += framed;
        flush();
    }
}

std::optional<std::string> ControlLink::take() {
    try {
        return reader_.next();
    } catch (const Error&) {
        lose(Loss::closed);
        return std::nullopt;
    }
}

void ControlLink::tick(comm::Clock::time_point now) {
    if (!loss_ && !proved_ && now >= deadline_) {
        lose(Loss::silent);
    }
}

void ControlLink::finish_connecting() {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0 &&
        comm::SocketAddress::local_of(socket_.get()) == comm::SocketAddress::remote_of(socket_.get())) {
        error = ECONNREFUSED;  // it has called itself: the kernel gave it the port on which nobody listens
    }
    if (error != 0) {
        lose(loss_of(error));
        return;
    }
    connecting_ = false;
    constexpr Seconds silence{3};
    comm::set_up_connection(socket_.get(), silence);
}

void ControlLink::ready(bool, bool) {
    if (connecting_) {
        finish_connecting();
    }
    while (!loss_) {
        std::array<std::byte, 65536> buffer;
        const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && errno == EAGAIN) {
            break;
        }
        if (count <= 0) {
            lose(count == 0 ? Loss::closed : loss_of(errno));
            return;
        }
        std::span<const std::byte> came(buffer.data(), static_cast<std::size_t>(count));
        if (!proved_) {
            came = came.subspan(handshake_.take(came));
            const auto answer = handshake_.take_output();
            proof_.insert(proof_.end(), answer.begin(), answer.end());
            proved_ = handshake_.complete();
            if (handshake_.refused()) {
                lose(Loss::closed);
                return;
            }
        }
        reader_.feed(came);
    }
    flush();
}

void ControlLink::flush() {
    while (!loss_ && !connecting_) {
        const bool proving = !proof_.empty();
        if (!proving && (!proved_ || output_.empty())) {
            return;
        }
        const void* data = proving ? static_cast<const void*>(proof_.data()) : output_.data();
        const ssize_t count =
            ::send(socket_.get(), data, proving ? proof_.size() : output_.size(), MSG_NOSIGNAL);
        if (count < 0) {
            if (errno == EAGAIN) {
                return;
            }
            if (errno != EINTR) {
                lose(loss_of(errno));
            }
        } else if (proving) {
            proof_.erase(proof_.begin(), proof_.begin() + count);
        } else {
            output_.erase(0, static_cast<std::size_t>(count));
        }
    }
}

}  // namespace mastic::elastic
