#include <mastic/comm/topology.hpp>

#include <algorithm>
#include <map>

namespace mastic::comm {

Topology::Topology(std::span<const int> node_of_rank, int rank)
    : rank_(rank),
      size_(static_cast<int>(node_of_rank.size())),
      node_(node_of_rank[static_cast<std::size_t>(rank)]),
      node_of_rank_(node_of_rank.begin(), node_of_rank.end()) {
    std::map<int, std::vector<int>> ranks_of_node;
    std::vector<int> in_order;  // nodes by their lowest rank
    for (int other = 0; other < size_; ++other) {
        auto& ranks = ranks_of_node[node_of_rank_[static_cast<std::size_t>(other)]];
        if (ranks.empty()) {
            in_order.push_back(node_of_rank_[static_cast<std::size_t>(other)]);
        }
        ranks.push_back(other);
    }
    nodes_ = static_cast<int>(in_order.size());
    local_ranks_ = ranks_of_node[node_];
    local_rank_ = static_cast<int>(std::ranges::find(local_ranks_, rank) - local_ranks_.begin());
    fewest_ = size_;
    for (const auto& [node, ranks] : ranks_of_node) {
        most_ = std::max(most_, static_cast<int>(ranks.size()));
        fewest_ = std::min(fewest_, static_cast<int>(ranks.size()));
    }
    if (!has_part()) {
        return;
    }
    for (const int node : in_order) {
        if (node == node_) {
            place_across_ = static_cast<int>(ranks_across_.size());
        }
        ranks_across_.push_back(ranks_of_node[node][static_cast<std::size_t>(local_rank_)]);
    }
}

}  // namespace mastic::comm
