#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include <mastic/comm/selection.hpp>
#include <mastic/comm/topology.hpp>

namespace mastic::comm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Topology, RanksOfOneNodeHaveOnePartEach) {
    const std::vector<int> nodes{5, 5, 5};
    const Topology topology(nodes, 1);
    EXPECT_EQ(topology.nodes(), 1);
    EXPECT_EQ(topology.parts(), 3);
    EXPECT_EQ(topology.local_rank(), 1);
    EXPECT_THAT(topology.local_ranks(), ElementsAre(0, 1, 2));
    EXPECT_THAT(topology.ranks_across(), ElementsAre(1));
}

TEST(Topology, EqualLocalRanksReduceBetweenTheNodes) {
    const std::vector<int> round_robin{0, 1, 0, 1};
    const Topology topology(round_robin, 3);
    EXPECT_EQ(topology.nodes(), 2);
    EXPECT_THAT(topology.local_ranks(), ElementsAre(1, 3));
    EXPECT_THAT(topology.ranks_across(), ElementsAre(2, 3));
    EXPECT_EQ(topology.place_across(), 1);
    EXPECT_TRUE(topology.is_local(1));
    EXPECT_FALSE(topology.is_local(2));
}

TEST(Topology, TheSmallestNodeSaysHowManyParts) {
    const std::vector<int> nodes{0, 0, 0, 3};
    const Topology first(nodes, 0);
    const Topology second(nodes, 1);
    const Topology alone(nodes, 3);
    EXPECT_EQ(first.parts(), 1);
    EXPECT_EQ(first.most_ranks_per_node(), 3);
    EXPECT_THAT(first.ranks_across(), ElementsAre(0, 3));
    EXPECT_FALSE(second.has_part());
    EXPECT_THAT(second.ranks_across(), IsEmpty());
    EXPECT_EQ(alone.place_across(), 1);
}

// All ranks must see the same ranks across, in the same order.
TEST(Topology, RanksAcrossAgree) {
    const std::vector<int> nodes{2, 0, 2, 1, 0, 1, 2};
    for (int rank = 0; rank < 7; ++rank) {
        const Topology topology(nodes, rank);
        EXPECT_EQ(topology.parts(), 2);
        if (!topology.has_part()) {
            EXPECT_EQ(rank, 6);
            continue;
        }
        EXPECT_EQ(topology.ranks_across()[static_cast<std::size_t>(topology.place_across())], rank);
        for (const int peer : topology.ranks_across()) {
            EXPECT_EQ(Topology(nodes, peer).ranks_across(), topology.ranks_across());
        }
    }
}

}  // namespace
}  // namespace mastic::comm
