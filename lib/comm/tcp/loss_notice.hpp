// A rank that has seen another one lost says so to some others, who do the same: else each would wait until the one that it
// works with has ended, one after the other, half a second each.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <mastic/comm/tcp/hello.hpp>
#include <mastic/comm/tcp/tcp_peer.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::comm {

// As a hello, on a connection that carries nothing else.
Hello loss_notice(int from, int lost);
std::optional<int> lost_rank_of(const Hello& hello);  // none: an ordinary one

// Those at distances 1, 2, 4, ... in both directions: all know after log2(ranks) hops, and nobody calls all.
std::vector<int> whom_to_tell(int self, int ranks, int lost);

// Calls them all at once, and waits at most `bound`. Who does not answer is not told.
void tell_of_loss(std::span<const TcpPeer> peers, int self, int lost, const Token& token, Seconds bound);

}  // namespace mastic::comm
