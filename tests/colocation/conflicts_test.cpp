#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/colocation/conflicts.hpp>

#include "colocation/sample_devices.hpp"
#include "support/expect_error.hpp"

namespace mastic::colocation {
namespace {

Placement on_one_gpu(ComputeMode mode, int ranks, std::vector<int> users = {}) {
    Device device = test::gpu("GPU-a");
    device.mode = mode;
    device.users = std::move(users);
    return place_ranks({ranks, ranks, {device}, test::two_numa_nodes(4)});
}

void expect_conflict(const Placement& placement, bool with_mps, const Neighbours& neighbours,
                     const char* part) {
    test::expect_error(ExitCode::environment, part,
                       [&] { check_conflicts(placement, with_mps, neighbours); });
}

TEST(Conflicts, OfComputeModes) {
    expect_conflict(on_one_gpu(ComputeMode::prohibited, 1), false, {}, "prohibited: no process may use it");
    expect_conflict(on_one_gpu(ComputeMode::exclusive_process, 2), false, {},
                    "lets one process in, but 2 ranks");
    expect_conflict(on_one_gpu(ComputeMode::exclusive_process, 2, {99}), true, {},
                    "process 99 has it already");
    expect_conflict(on_one_gpu(ComputeMode::exclusive_process, 2), true, {{}, {{77, 1234}}},
                    "user 1234 runs an MPS daemon on this node (process 77)");
}

TEST(Conflicts, AreNoneWhereRanksMayShare) {
    EXPECT_TRUE(check_conflicts(on_one_gpu(ComputeMode::shared, 4), true, {}).empty());
    EXPECT_TRUE(check_conflicts(on_one_gpu(ComputeMode::exclusive_process, 4), true, {}).empty());
    EXPECT_TRUE(check_conflicts(on_one_gpu(ComputeMode::exclusive_process, 1), false, {}).empty());
    EXPECT_TRUE(check_conflicts(on_one_gpu(ComputeMode::shared, 4), true, {{}, {{77, 1234}}}).empty());
}

TEST(Conflicts, AnotherUsersWorkIsToldOnce) {
    EXPECT_THAT(check_conflicts(on_one_gpu(ComputeMode::shared, 4, {98, 99}), true, {{99}, {}}),
                testing::ElementsAre("another user computes on GPU-a too"));
    EXPECT_TRUE(check_conflicts(on_one_gpu(ComputeMode::shared, 4, {98}), true, {{}, {}}).empty())
        << "it is ours";
}

}  // namespace
}  // namespace mastic::colocation
