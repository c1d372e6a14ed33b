#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/nccl/gpu_placement.hpp>

namespace mastic::comm {
namespace {

using testing::ElementsAre;

constexpr int old_version = 22809;
const std::vector<std::string> two_each = {"A", "A", "B", "B"};
const std::vector<std::string> spread = {"A", "B", "A", "C", "B"};

TEST(GpuPlacement, TheLowestRankOfAGpuLeads) {
    const GpuPlacement first = place_on_gpus(two_each, 1, old_version);
    EXPECT_THAT(first.local_ranks, ElementsAre(0, 1));
    EXPECT_THAT(first.leaders, ElementsAre(0, 2));
    EXPECT_EQ(first.place, 0);
    EXPECT_TRUE(first.shared());
    EXPECT_FALSE(first.leads(1));
    EXPECT_EQ(place_on_gpus(two_each, 2, old_version).place, 1);
    EXPECT_TRUE(place_on_gpus(two_each, 2, old_version).leads(2));
}

TEST(GpuPlacement, RanksOfAGpuNeedNotFollowOneAnother) {
    EXPECT_THAT(place_on_gpus(spread, 4, old_version).local_ranks, ElementsAre(1, 4));
    EXPECT_THAT(place_on_gpus(spread, 4, old_version).leaders, ElementsAre(0, 1, 3));
    EXPECT_FALSE(place_on_gpus(spread, 3, old_version).shared());
    EXPECT_EQ(place_on_gpus(spread, 3, old_version).place, 2);
}

TEST(GpuPlacement, LaterNcclTakesAllRanks) {
    for (int rank = 0; rank < 4; ++rank) {
        const GpuPlacement placement = place_on_gpus(two_each, rank, nccl_shares_gpus_since);
        EXPECT_THAT(placement.local_ranks, ElementsAre(rank));
        EXPECT_THAT(placement.leaders, ElementsAre(0, 1, 2, 3));
        EXPECT_EQ(placement.place, rank);
    }
}

}  // namespace
}  // namespace mastic::comm
