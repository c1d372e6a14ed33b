#include <numeric>
#include <set>

#include <sched.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/job/binding.hpp>

#include "support/expect_error.hpp"
#include "support/in_child.hpp"

namespace mastic::job {
namespace {

using testing::HasSubstr;
using Pus = std::vector<int>;

const std::vector<Core> four_cores = {{0}, {1}, {2}, {3}};
const std::vector<Core> four_smt_cores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};

TEST(PlanBinding, CutsTheAllowedCoresIntoSharesOfTheirOwn) {
    const struct {
        const char* what;
        CpuView cpus;
        int local_rank, local_size;
        Pus pus;
        int cores;
        bool changed;
    } cases[] = {
        {"halves", {four_cores, {0, 1, 2, 3}}, 0, 2, {0, 1}, 2, true},
        {"halves", {four_cores, {0, 1, 2, 3}}, 1, 2, {2, 3}, 2, true},
        {"uneven", {four_cores, {0, 1, 2, 3}}, 0, 3, {0}, 1, true},
        {"uneven", {four_cores, {0, 1, 2, 3}}, 2, 3, {2, 3}, 2, true},
        {"siblings stay together", {four_smt_cores, {0, 1, 2, 3, 4, 5, 6, 7}}, 1, 2, {2, 3, 6, 7}, 2, true},
        {"the job's part of a node", {{{8}, {9}, {12}, {13}}, {8, 9, 12, 13}}, 1, 2, {12, 13}, 2, true},
        {"one rank", {four_cores, {0, 1, 2, 3}}, 0, 1, {0, 1, 2, 3}, 4, false},
        {"more ranks than cores", {four_cores, {0, 1, 2, 3}}, 4, 5, {0, 1, 2, 3}, 4, false},
        {"bound by the launcher", {four_cores, {1, 3}}, 0, 2, {1, 3}, 2, false},
        {"bound to one thread of a core", {four_smt_cores, {5}}, 0, 2, {5}, 1, false},
        {"all ranks share a narrow mask", {four_cores, {1, 3}, true}, 1, 2, {3}, 1, true},
        {"all ranks share a mask of one core", {four_cores, {1}, true}, 1, 2, {1}, 1, false},
        {"mask unknown", {four_cores, {}}, 1, 4, {1}, 1, true},
    };
    for (const auto& c : cases) {
        const auto binding = plan_binding(c.cpus, c.local_rank, c.local_size);
        EXPECT_EQ(binding.pus, c.pus) << c.what;
        EXPECT_EQ(binding.cores, c.cores) << c.what;
        EXPECT_EQ(binding.changed, c.changed) << c.what;
    }
}

TEST(PlanBinding, GivesEachCoreToExactlyOneRank) {
    for (int cores = 1; cores <= 17; ++cores) {
        CpuView cpus;
        for (int core = 0; core < cores; ++core) {
            cpus.allowed.push_back({core, core + cores});
        }
        cpus.bound.resize(static_cast<std::size_t>(2 * cores));
        std::iota(cpus.bound.begin(), cpus.bound.end(), 0);
        for (int ranks = 2; ranks <= cores; ++ranks) {
            std::set<int> seen;
            std::size_t total = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const auto binding = plan_binding(cpus, rank, ranks);
                EXPECT_TRUE(binding.cores == cores / ranks || binding.cores == (cores + ranks - 1) / ranks);
                seen.insert(binding.pus.begin(), binding.pus.end());
                total += binding.pus.size();
            }
            EXPECT_EQ(seen.size(), cpus.bound.size()) << cores << " cores, " << ranks << " ranks";
            EXPECT_EQ(total, cpus.bound.size()) << cores << " cores, " << ranks << " ranks";
        }
    }
}

TEST(PlanBinding, SaysWhyARankIsNotBound) {
    EXPECT_EQ(plan_binding({four_cores, {0, 1, 2, 3}}, 0, 5).reason, "not bound: 5 ranks share 4 cores");
    EXPECT_THAT(plan_binding({four_cores, {0}}, 0, 2).reason, HasSubstr("launcher"));
}

TEST(PlanBinding, RefusesARankOutsideOfItsNode) {
    test::expect_error(ExitCode::environment, "local rank 2 of 2", [] {
        plan_binding({four_cores, {0, 1, 2, 3}}, 2, 2);
    });
}

TEST(DefaultThreads, AreTheCoresOfTheRank) {
    EXPECT_EQ(default_threads({four_cores, {0, 1, 2, 3}}, 2), 2);
    EXPECT_EQ(default_threads({four_smt_cores, {0, 1, 2, 3, 4, 5, 6, 7}}, 1), 4);
    EXPECT_EQ(default_threads({four_cores, {0, 1, 2, 3}}, 3), 1);
    EXPECT_EQ(default_threads({four_cores, {0, 1, 2, 3}}, 9), 1);
    EXPECT_EQ(default_threads({four_cores, {1, 2}}, 2), 2) << "the launcher's mask is this rank's alone";
    EXPECT_EQ(default_threads({four_cores, {1, 2}, true}, 2), 1) << "the mask is shared by both ranks";
}

TEST(DescribeBinding, NamesCoresReasonAndThreads) {
    const auto binding = plan_binding({four_smt_cores, {0, 1, 2, 3, 4, 5, 6, 7}}, 0, 2);
    EXPECT_EQ(describe(binding, 2),
              "2 cores (CPU 0-1,4-5): bound by mastic to its share of 4 cores; 2 threads");
    EXPECT_THAT(describe(binding, 3), HasSubstr("3 threads, more than it has cores"));
    EXPECT_EQ(compact_ranges({}), "");
    EXPECT_EQ(compact_ranges({3}), "3");
}

Pus kernel_mask() {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    Pus pus;
    for (int pu = 0; pu < CPU_SETSIZE; ++pu) {
        if (CPU_ISSET(pu, &set)) {
            pus.push_back(pu);
        }
    }
    return pus;
}

TEST(ObserveCpus, AgreesWithTheKernel) {
    const auto cpus = observe_cpus();
    EXPECT_EQ(cpus.bound, kernel_mask());
    EXPECT_FALSE(cpus.allowed.empty());
}

TEST(BindRank, BindsTheProcessAndIsThenSeenAsBound) {
    const auto cpus = observe_cpus();
    const auto plan = plan_binding(cpus, 1, 2);
    if (!plan.changed) {
        GTEST_SKIP() << "this machine has no two free cores: " << plan.reason;
    }
    EXPECT_EQ(test::run_child([&] {
                  const auto binding = bind_rank(cpus, 1, 2);
                  if (!binding.changed || kernel_mask() != plan.pus) {
                      return 1;
                  }
                  return plan_binding(observe_cpus(), 1, 2).changed ? 2 : 0;
              }),
              0);
    EXPECT_EQ(kernel_mask(), cpus.bound);
}

TEST(BindRank, LeavesTheMaskAloneWithMoreRanksThanCores) {
    const auto cpus = observe_cpus();
    const auto binding = bind_rank(cpus, 0, 100000);
    EXPECT_FALSE(binding.changed);
    EXPECT_EQ(kernel_mask(), cpus.bound);
}

TEST(BindRank, ReportsARefusalOfTheSystem) {
    CpuView impossible;
    impossible.allowed = {{4000}, {4001}};
    impossible.bound = {4000, 4001};
    const auto before = kernel_mask();
    const auto binding = bind_rank(impossible, 0, 2);
    EXPECT_FALSE(binding.changed);
    EXPECT_THAT(binding.reason, HasSubstr("refused"));
    EXPECT_EQ(kernel_mask(), before);
}

}  // namespace
}  // namespace mastic::job
