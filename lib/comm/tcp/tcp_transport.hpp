// Non-blocking TCP between the ranks of a group: one connection per pair of ranks and lane, made when first used.
// Sockets tell the event loop when there is something to do, so that nothing polls.
//
// Security: every rank listens on the chosen address only; a connection must begin with the group's random token, which
// travels over `exchange`, or it is closed. The traffic itself is not encrypted.
//
// The lower of two ranks connects when it first asks for the stream and repeats failed attempts for `connect_timeout`;
// the higher one waits for it, however late it is. Until then send() and receive() return 0.
//
// Who goes to sleep on the event loop must have seen a 0 from every stream that it wants something from: what was not
// taken or read is not announced again.
//
// A peer that dies closes its connections: the next call on a stream throws Error(collective) naming rank, host and
// address. A host that vanishes is noticed within about `silence`: by keep-alive probes while nothing is sent, else by
// what stays unanswered. A peer that is alive and does not read for long is waited for. A rank that ends before it was
// ever connected to a higher one is not noticed by that one here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <mastic/comm/event_loop.hpp>
#include <mastic/comm/group.hpp>
#include <mastic/comm/lost_rank.hpp>
#include <mastic/comm/tcp/hello.hpp>
#include <mastic/comm/tcp/listening_socket.hpp>
#include <mastic/comm/tcp/tcp_peer.hpp>
#include <mastic/comm/transport.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::comm {

struct TcpOptions {
    // "auto", the name of an interface ("eth0"), or a network ("10.0.0.0/24", "fd00::/64"). auto: the fastest network on
    // which all ranks have an address; the loopback only if all ranks are on one host.
    std::string network = "auto";
    Seconds connect_timeout{20};
    Seconds silence{5};  // at least 2 s count for an idle connection
    // How long a rank that has seen another one lost keeps its own connections at its end.
    Seconds linger{0.3};
    std::shared_ptr<LossRecord> losses{};  // told of every lost rank; may be null
};

// Who is in a group, in the order of the ranks, and the secret by which they know one another.
struct TcpTable {
    int rank = 0;  // this one
    std::vector<TcpPeer> peers{};
    Token token{};
    std::string description{};  // of the network: "10.0.0.0/24 (eth0)"
};

class TcpTransport : public Transport {
  public:
    // Collective over `exchange`, whose ranks are the transport's ranks; how the network is chosen: network_choice.hpp.
    // Throws the same AgreedError(environment) on all ranks, with the addresses of each, if they share no network.
    // `loop` must outlive the transport; the exchange may end before it.
    static std::unique_ptr<TcpTransport> create(Group& exchange, EventLoop& loop, const TcpOptions& options);
    // Between ranks that know one another already. `listener` is where the table says that this rank listens; others may
    // call it from the time on that it is open.
    static std::unique_ptr<TcpTransport> open(EventLoop& loop, TcpTable table, ListeningSocket listener,
                                              const TcpOptions& options);
};

}  // namespace mastic::comm
