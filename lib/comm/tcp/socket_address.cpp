#include <mastic/comm/tcp/socket_address.hpp>

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace mastic::comm {

namespace {

template <class Address>
const Address& as(const sockaddr* address) {
    return *reinterpret_cast<const Address*>(address);
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address, std::size_t size)
    : size_(static_cast<socklen_t>(size)) {
    std::memcpy(&storage_, address, size);
}

std::optional<SocketAddress> SocketAddress::parse(const std::string& host, std::uint16_t port) {
    sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
    if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
        return SocketAddress(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
    }
    sockaddr_in6 v6{.sin6_family = AF_INET6,
                    .sin6_port = htons(port),
                    .sin6_flowinfo = 0,
                    .sin6_addr = {},
                    .sin6_scope_id = 0};
    if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
        return SocketAddress(reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
    }
    return std::nullopt;
}

SocketAddress SocketAddress::local_of(int socket) {
    SocketAddress address;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage_), &address.size_);
    return address;
}

SocketAddress SocketAddress::remote_of(int socket) {
    SocketAddress address;
    ::getpeername(socket, reinterpret_cast<sockaddr*>(&address.storage_), &address.size_);
    return address;
}

std::uint16_t SocketAddress::port() const {
    return ntohs(family() == AF_INET ? as<sockaddr_in>(data()).sin_port : as<sockaddr_in6>(data()).sin6_port);
}

SocketAddress SocketAddress::with_port(std::uint16_t port) const {
    SocketAddress copy = *this;
    auto* const address = reinterpret_cast<sockaddr*>(&copy.storage_);
    if (family() == AF_INET) {
        reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
    } else {
        reinterpret_cast<sockaddr_in6*>(address)->sin6_port = htons(port);
    }
    return copy;
}

std::span<const std::byte> SocketAddress::bytes() const {
    return family() == AF_INET ? std::as_bytes(std::span(&as<sockaddr_in>(data()).sin_addr, 1))
                               : std::as_bytes(std::span(&as<sockaddr_in6>(data()).sin6_addr, 1));
}

std::string SocketAddress::host() const {
    char text[INET6_ADDRSTRLEN] = "";
    ::inet_ntop(family(), bytes().data(), text, sizeof text);
    return text;
}

bool SocketAddress::operator==(const SocketAddress& other) const {
    return family() == other.family() && port() == other.port() && std::ranges::equal(bytes(), other.bytes());
}

}  // namespace mastic::comm
