// Which ranks of a group share a node, and who reduces what between the nodes.
#pragma once

#include <span>
#include <vector>

namespace mastic::comm {

class Topology {
  public:
    // `node_of_rank`: any number that is the same for all ranks of a node. `rank`: this one.
    Topology(std::span<const int> node_of_rank, int rank);

    int rank() const { return rank_; }
    int size() const { return size_; }
    int nodes() const { return nodes_; }
    int most_ranks_per_node() const { return most_; }
    // Ranks of this node, ascending; their places are the local ranks.
    const std::vector<int>& local_ranks() const { return local_ranks_; }
    int local_rank() const { return local_rank_; }
    int local_size() const { return static_cast<int>(local_ranks_.size()); }
    bool is_local(int peer) const { return node_of_rank_[static_cast<std::size_t>(peer)] == node_; }

    // In a hierarchical reduction each node's sum is cut into `parts()` parts, as many as the smallest node has ranks;
    // local rank i reduces part i with the ranks of the same local rank on all nodes.
    int parts() const { return fewest_; }
    bool has_part() const { return local_rank_ < fewest_; }
    // Those ranks, by node; empty without a part. This rank is the one at `place_across()`.
    const std::vector<int>& ranks_across() const { return ranks_across_; }
    int place_across() const { return place_across_; }

  private:
    int rank_;
    int size_;
    int node_;
    int nodes_ = 0;
    int most_ = 0;
    int fewest_ = 0;
    int local_rank_ = 0;
    int place_across_ = 0;
    std::vector<int> node_of_rank_;
    std::vector<int> local_ranks_;
    std::vector<int> ranks_across_;
};

}  // namespace mastic::comm
