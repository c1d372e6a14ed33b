// An IPv4 or IPv6 address with a port (0: none), as the socket calls take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <sys/socket.h>

namespace mastic::comm {

class SocketAddress {
  public:
    // `address` is an AF_INET or AF_INET6 one.
    SocketAddress(const sockaddr* address, std::size_t size);
    // Numeric only: "10.0.0.4", "fd00::2". Nothing for anything else.
    static std::optional<SocketAddress> parse(const std::string& host, std::uint16_t port = 0);
    // Of a socket that is bound or connected.
    static SocketAddress local_of(int socket);
    static SocketAddress remote_of(int socket);

    const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const { return size_; }
    int family() const { return storage_.ss_family; }
    std::uint16_t port() const;
    SocketAddress with_port(std::uint16_t port) const;
    std::span<const std::byte> bytes() const;  // 4 or 16, without the port
    std::string host() const;                  // "10.0.0.4", "fd00::2"

    bool operator==(const SocketAddress& other) const;

  private:
    SocketAddress() = default;

    sockaddr_storage storage_{};
    socklen_t size_ = sizeof(sockaddr_storage);
};

}  // namespace mastic::comm
