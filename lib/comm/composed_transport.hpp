// Transports made of others.
#pragma once

#include <memory>
#include <vector>

#include <mastic/comm/topology.hpp>
#include <mastic/comm/transport.hpp>

namespace mastic::comm {

// Ranks of this node over `local`, whose ranks are the local ranks; the others over `remote`.
std::unique_ptr<Transport> make_mixed_transport(const Topology& topology, Transport& local, Transport& remote);

// Rank i is rank `ranks[i]` of `all`.
std::unique_ptr<Transport> make_subset_transport(std::vector<int> ranks, Transport& all);

}  // namespace mastic::comm
