// A range of addresses that begin with the same bits: 10.0.0.0/24, fd00::/64.
#pragma once

#include <string>
#include <string_view>

#include <mastic/comm/tcp/socket_address.hpp>

namespace mastic::comm {

class Subnet {
  public:
    // The one around `address`. `length` in bits, at most those of the address.
    Subnet(const SocketAddress& address, int length) : address_(address), length_(length) {}
    // "10.0.0.0/24". Throws Error(usage) quoting the text.
    static Subnet parse(std::string_view text);

    bool contains(const SocketAddress& address) const;
    std::string to_string() const;

    bool operator==(const Subnet& other) const;

  private:
    SocketAddress address_;  // any of the range
    int length_;
};

}  // namespace mastic::comm
