// The shape of a group: how many nodes, how many ranks on each. A tuning table has rows by shape.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mastic::tuning {

struct GroupShape {
    int nodes = 1;
    int ranks_per_node = 1;

    int ranks() const { return nodes * ranks_per_node; }
    auto operator<=>(const GroupShape&) const = default;
};
// Of a group whose ranks need not be the same number on each node: as many as on the fullest one, if they are spread evenly.
GroupShape shape_of(int ranks, int nodes);
std::string to_string(const GroupShape& shape);  // "2 nodes x 4 ranks"

// 1, 2, 4, ... and `most`, for nodes and for ranks per node; the largest first, those of one rank left out.
std::vector<GroupShape> shapes_within(const GroupShape& most);

// Whose rows a group of `wanted` takes: its own; else the nearest of its kind by |log2 of the ratio of nodes| + |log2
// of the ratio of ranks per node|, of equals the one with fewer ranks. There are three kinds, between which choices do
// not carry over: one node (memory only), several nodes with a rank each (network only), and several nodes with several
// ranks (both). None: there is no shape of this kind.
std::optional<GroupShape> nearest_shape(std::span<const GroupShape> known, const GroupShape& wanted);

}  // namespace mastic::tuning
