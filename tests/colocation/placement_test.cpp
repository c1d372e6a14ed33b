#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/colocation/placement.hpp>

#include "colocation/sample_devices.hpp"
#include "support/expect_error.hpp"

namespace mastic::colocation {
namespace {

using test::gpu;
using test::two_numa_nodes;

const std::vector<Device> four_gpus = {gpu("a", 1), gpu("b", 0), gpu("c", 1), gpu("d", 0)};

// "0:b 0-1,8-9" for rank 0 on device b with these PUs.
std::vector<std::string> lines(const Placement& placement) {
    std::vector<std::string> all;
    for (const RankPlace& rank : placement.ranks) {
        all.push_back(std::to_string(rank.local_rank) + ":" + placement.devices[rank.device].id + " " +
                      job::compact_ranges(rank.binding.pus));
    }
    return all;
}

struct Row {
    const char* what;
    PlacementRequest request;
    std::vector<std::string> expected;
};

TEST(Placement, FollowsTheTable) {
    job::CpuView only_numa_0 = two_numa_nodes(8);
    only_numa_0.allowed.resize(4);
    only_numa_0.numa.resize(4);
    only_numa_0.bound = job::pus_of(only_numa_0.allowed);
    const Row table[] = {
        {"neighbouring ranks share a GPU, and GPUs come in the order of NUMA nodes",
         {8, 0, four_gpus, two_numa_nodes(8)},
         {"0:b 0,8", "1:b 1,9", "2:d 2,10", "3:d 3,11", "4:a 4,12", "5:a 5,13", "6:c 6,14", "7:c 7,15"}},
        {"fewer ranks than GPUs spread over the NUMA nodes",
         {2, 0, four_gpus, two_numa_nodes(8)},
         {"0:b 0-3,8-11", "1:a 4-7,12-15"}},
        {"a number of ranks on each GPU fills one after the other",
         {3, 2, four_gpus, two_numa_nodes(8)},
         {"0:b 0,8", "1:b 1,9", "2:d 2-3,10-11"}},
        {"uneven ranks",
         {5, 0, {gpu("a", 0), gpu("b", 1)}, two_numa_nodes(8)},
         {"0:a 0,8", "1:a 1,9", "2:a 2-3,10-11", "3:b 4-5,12-13", "4:b 6-7,14-15"}},
        {"an unknown NUMA node: the order is that of the grant, and all cores are shared",
         {2, 1, {gpu("x", std::nullopt), gpu("y", 0)}, two_numa_nodes(4)},
         {"0:x 0-7", "1:y 0-1,4-5"}},
        {"a NUMA node without a core for this job",
         {2, 1, {gpu("a", 0), gpu("b", 1)}, only_numa_0},
         {"0:a 0-3,8-11", "1:b 0-3,8-11"}},
        {"more ranks than cores share them",
         {3, 3, {gpu("a", 0)}, two_numa_nodes(4)},
         {"0:a 0-1,4-5", "1:a 0-1,4-5", "2:a 0-1,4-5"}},
    };
    for (const Row& row : table) {
        EXPECT_EQ(lines(place_ranks(row.request)), row.expected) << row.what;
    }
}

TEST(Placement, OfGroupsOfCoresKeepsRanksInside) {
    const job::CpuView cpus = two_numa_nodes(8);
    const Placement placement = place_ranks({4, 2, core_groups(cpus, 0), cpus});
    EXPECT_EQ(lines(placement),
              (std::vector<std::string>{"0:cores 0-3,8-11 0-1,8-9", "1:cores 0-3,8-11 2-3,10-11",
                                        "2:cores 4-7,12-15 4-5,12-13", "3:cores 4-7,12-15 6-7,14-15"}));
    EXPECT_EQ(placement.ranks[3].threads, 2);
    EXPECT_EQ(placement.ranks[3].index, 1);
    EXPECT_EQ(placement.ranks[3].sharers, 2);
}

TEST(Placement, LeavesAProcessAloneThatItsLauncherBound) {
    job::CpuView cpus = two_numa_nodes(8);
    cpus.bound = {6, 14};
    const Placement placement = place_ranks({2, 0, four_gpus, cpus});
    EXPECT_EQ(placement.ranks[0].binding.pus, cpus.bound);
    EXPECT_FALSE(placement.ranks[0].binding.changed);
    cpus.bound_is_shared = true;  // of all ranks: their share of the node
    EXPECT_EQ(lines(place_ranks({2, 2, {gpu("c", 1)}, cpus})),
              (std::vector<std::string>{"0:c 6,14", "1:c 6,14"}));
}

TEST(Placement, SaysWhichDeviceHasNoRank) {
    EXPECT_THAT(place_ranks({2, 2, {gpu("a"), gpu("b")}, two_numa_nodes(4)}).notes,
                testing::ElementsAre("b has no rank"));
}

TEST(Placement, RefusesMoreRanksThanPlaces) {
    test::expect_error(ExitCode::usage, "5 ranks on this node, but 2 devices x 2 ranks are fewer", [] {
        place_ranks({5, 2, {gpu("a"), gpu("b")}, two_numa_nodes(4)});
    });
}

}  // namespace
}  // namespace mastic::colocation
