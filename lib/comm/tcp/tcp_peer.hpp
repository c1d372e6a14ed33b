// A rank as others reach it over TCP.
#pragma once

#include <string>

#include <mastic/comm/tcp/socket_address.hpp>

namespace mastic::comm {

struct TcpPeer {
    int rank = 0;
    std::string host;       // its name
    SocketAddress address;  // where it listens
};

}  // namespace mastic::comm
