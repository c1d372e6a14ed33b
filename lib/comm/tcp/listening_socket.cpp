#include <mastic/comm/tcp/listening_socket.hpp>

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/socket.h>

#include <mastic/comm/tcp/tcp_socket.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm {

namespace {

Descriptor listen_on(const SocketAddress& address) {
    Descriptor socket = open_tcp_socket(address.family());
    if (!socket.valid() || ::bind(socket.get(), address.data(), address.size()) != 0 ||
        ::listen(socket.get(), SOMAXCONN) != 0) {
        throw Error(ExitCode::environment, "cannot listen on " + address.host() + ": " + std::strerror(errno),
                    "check the limit of open files (ulimit -n), or choose another network");
    }
    return socket;
}

}  // namespace

ListeningSocket::ListeningSocket(const SocketAddress& address)
    : socket_(listen_on(address)), address_(SocketAddress::local_of(socket_.get())) {}

// A socket on "::" takes IPv4 callers too, unless the host has no IPv6.
ListeningSocket ListeningSocket::on_every_address() {
    try {
        return ListeningSocket(SocketAddress::parse("::").value());
    } catch (const Error&) {
        return ListeningSocket(SocketAddress::parse("0.0.0.0").value());
    }
}

}  // namespace mastic::comm
