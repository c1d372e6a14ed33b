#include <mastic/elastic/timed_socket.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

#include <mastic/comm/tcp/tcp_socket.hpp>
#include <mastic/core/error.hpp>
#include <mastic/elastic/handshake.hpp>
#include <mastic/elastic/message.hpp>

namespace mastic::elastic {

TimedSocket::TimedSocket(Descriptor socket, Seconds silence, Interrupted interrupted)
    : socket_(std::move(socket)), silence_(silence), interrupted_(std::move(interrupted)) {}

TimedSocket TimedSocket::call(const comm::SocketAddress& address, const Secret& secret, Seconds silence,
                              Interrupted interrupted) {
    TimedSocket caller(comm::open_tcp_socket(address.family()), silence, std::move(interrupted));
    if (!caller.socket_.valid() ||
        (::connect(caller.socket_.get(), address.data(), address.size()) != 0 && errno != EINPROGRESS)) {
        caller.fail(std::strerror(errno));
    }
    caller.wait(POLLOUT, true);
    comm::set_up_connection(caller.socket_.get(), silence);
    Handshake handshake(secret, Handshake::Side::caller);
    while (!handshake.complete()) {
        caller.write(handshake.take_output());
        std::array<std::byte, 64> answer{};
        caller.read(answer);
        handshake.take(answer);
        if (handshake.refused()) {
            caller.fail("it is not of this run");
        }
    }
    caller.write(handshake.take_output());
    return caller;
}

void TimedSocket::fail(const std::string& why) const {
    throw Error(ExitCode::collective, "a transfer between members broke off: " + why);
}

void TimedSocket::wait(short events, bool bounded) {
    using Clock = std::chrono::steady_clock;
    constexpr int slice_ms = 50;
    const auto begin = Clock::now();
    for (;;) {
        pollfd waiting{socket_.get(), events, 0};
        if (::poll(&waiting, 1, slice_ms) > 0) {
            return;
        }
        if (interrupted_ && interrupted_()) {
            fail("it is not wanted any more");
        }
        if (bounded && Clock::now() - begin > silence_) {
            fail("the other end does not answer");
        }
    }
}

void TimedSocket::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            wait(POLLOUT, true);
        } else if (errno != EINTR) {
            fail(std::strerror(errno));
        }
    }
}

void TimedSocket::read(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
        if (count > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (count == 0) {
            fail("the other end has closed it");
        } else if (errno == EAGAIN) {
            wait(POLLIN, true);
        } else if (errno != EINTR) {
            fail(std::strerror(errno));
        }
    }
}

void TimedSocket::wait_until_readable() {
    wait(POLLIN, false);
}

void TimedSocket::write_frame(const std::string& content) {
    const std::string framed = frame(content);
    write(std::as_bytes(std::span(framed)));
}

std::string TimedSocket::read_frame() {
    std::array<std::byte, 4> header{};
    read(header);
    std::size_t length = 0;
    for (std::size_t i = 0; i < header.size(); ++i) {
        length |= std::to_integer<std::size_t>(header[i]) << (8 * i);
    }
    if (length > most_frame_bytes) {
        fail("it sends a message of " + std::to_string(length) + " bytes");
    }
    std::string content(length, '\0');
    read(std::as_writable_bytes(std::span(content)));
    return content;
}

}  // namespace mastic::elastic
