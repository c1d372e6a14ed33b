// Which network the ranks of a group use: a pure function of what each of them has, so that all choose the same.
//
// auto: the loopback if all ranks are on one host; else, of the subnets in which every rank has an address, the fastest
// one (by its slowest interface; one of unknown speed comes last; IPv4 before IPv6). An address that two hosts have,
// like that of a bridge for containers, leads nowhere: such a subnet does not count.
// Hosts in different subnets that routers connect are for the user to name: by an interface or a wider network.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <mastic/comm/tcp/host_addresses.hpp>

namespace mastic::comm {

struct NetworkChoice {
    std::string network;               // "10.79.0.0/24"; where hosts differ, that of rank 0
    std::vector<std::size_t> address;  // by rank: an index into its HostAddresses::addresses
};

// `wanted` as in TcpOptions::network. Throws Error(environment) with the addresses of each host, or Error(usage) if
// `wanted` is no network.
NetworkChoice choose_network(const std::vector<HostAddresses>& by_rank, const std::string& wanted);

}  // namespace mastic::comm
