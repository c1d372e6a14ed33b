// The addresses through which the host of a rank can be reached.
#pragma once

#include <string>
#include <vector>

#include <mastic/comm/tcp/socket_address.hpp>
#include <mastic/comm/tcp/subnet.hpp>

namespace mastic::comm {

struct InterfaceAddress {
    std::string interface;  // "eth0"
    SocketAddress address;
    int prefix_length = 0;  // bits
    int speed = 0;          // Mbit/s; 0: the driver does not say
    bool loopback = false;

    Subnet subnet() const { return {address, prefix_length}; }
};

struct HostAddresses {
    std::string name;      // "node07"
    std::string identity;  // equal for two ranks if they see the same loopback interface
    std::vector<InterfaceAddress> addresses;
};

// Of this process. Interfaces that are up, without link-local addresses. Throws Error(environment).
HostAddresses find_host_addresses();

// As text that travels between ranks.
std::string pack(const HostAddresses& host);
HostAddresses unpack_host_addresses(const std::string& text);

}  // namespace mastic::comm
