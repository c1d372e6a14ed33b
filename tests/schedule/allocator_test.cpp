#include <mastic/schedule/allocator.hpp>

#include <gtest/gtest.h>

#include <numeric>

#include "schedule/random_values.hpp"
#include "support/expect_error.hpp"

namespace mastic::schedule {
namespace {

using test::best_by_enumeration;
using test::random_values;

// Counts that may be had, in sum at most `nodes`, and the value that they say.
void expect_valid(const Allocation& allocation, const std::vector<JobValues>& jobs, int nodes) {
    ASSERT_EQ(allocation.nodes.size(), jobs.size());
    double value = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const auto n = static_cast<std::size_t>(allocation.nodes[j]);
        ASSERT_LT(n, jobs[j].value.size());
        ASSERT_NE(jobs[j].value[n], not_allowed) << "job " << j << " has " << n << " nodes";
        value += jobs[j].value[n];
    }
    EXPECT_LE(std::accumulate(allocation.nodes.begin(), allocation.nodes.end(), 0), nodes);
    EXPECT_DOUBLE_EQ(allocation.value, value);
    EXPECT_GE(allocation.bound, value - 1e-9 * std::abs(value));
}

TEST(Allocator, FindsTheBestOfAllCombinations) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const int jobs = 1 + static_cast<int>(seed % 4);
        const int nodes = static_cast<int>(seed * 7 % 23);
        const auto values = random_values({jobs, nodes, 12}, seed);
        const Allocation allocation = allocate(values, nodes);
        expect_valid(allocation, values, nodes);
        const double best = best_by_enumeration(values, nodes);
        ASSERT_NEAR(allocation.value, best, 1e-9 * std::abs(best)) << "seed " << seed;
        EXPECT_TRUE(allocation.exact);
    }
}

// Steps, so that hulls are far from the values and nothing may be dropped wrongly.
TEST(Allocator, IsExactForStepsAndNegativeValues) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        CounterRandom random(seed);
        std::vector<JobValues> jobs(4);
        for (JobValues& job : jobs) {
            job.value = {-5.0 * random.uniform()};
            for (int n = 1; n <= 10; ++n) {
                job.value.push_back(random.below(3) == 0 ? not_allowed
                                                         : static_cast<double>(random.below(6)) * 3 - 6);
            }
        }
        const int nodes = static_cast<int>(random.below(30));
        const Allocation allocation = allocate(jobs, nodes);
        expect_valid(allocation, jobs, nodes);
        ASSERT_NEAR(allocation.value, best_by_enumeration(jobs, nodes), 1e-9) << "seed " << seed;
    }
}

TEST(Allocator, KeepsTheCurrentCountAmongEquals) {
    std::vector<JobValues> jobs(3, {0, {0, 1, 2, 3, 4}});
    jobs[0].current = 3;
    jobs[1].current = 1;
    jobs[2].current = 2;
    const Allocation allocation = allocate(jobs, 6);
    EXPECT_EQ(allocation.nodes, (std::vector<int>{3, 1, 2}));
}

TEST(Allocator, LeavesNodesThatGainNothing) {
    const std::vector<JobValues> jobs = {{0, {0, 5, 4, 3}}, {0, {0, -1, -1}}};
    EXPECT_EQ(allocate(jobs, 9).nodes, (std::vector<int>{1, 0}));
}

TEST(Allocator, TakesNoJobsAndNoNodes) {
    EXPECT_TRUE(allocate({}, 5).nodes.empty());
    const std::vector<JobValues> jobs = {{3, {0, 1, 2, 3}}};
    EXPECT_EQ(allocate(jobs, 0).nodes, std::vector<int>{0});
}

// A pool that shrinks or grows by more than half at once, where a published big-M of N + 1 forbids the step.
TEST(Allocator, AllowsAJobToGrowByTheWholePool) {
    std::vector<double> value(61);
    std::iota(value.begin(), value.end(), 0.0);
    const std::vector<JobValues> jobs = {{0, value}};
    EXPECT_EQ(allocate(jobs, 60).nodes, std::vector<int>{60});
    EXPECT_EQ(allocate({{{60, value}}}, 3).nodes, std::vector<int>{3});
}

TEST(Allocator, FallsBackToTheHullsAndSaysHowFarItMayBeOff) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto values = random_values({20, 150, 32}, seed);
        const Allocation exact = allocate(values, 150);
        const Allocation hull = allocate(values, 150, {.exact_cells = 0});
        expect_valid(hull, values, 150);
        EXPECT_LE(hull.value, exact.value + 1e-9 * exact.value);
        EXPECT_GE(hull.bound, exact.value - 1e-9 * exact.value);
        EXPECT_GT(hull.value, 0.97 * exact.value) << "seed " << seed;
    }
}

TEST(Allocator, RefusesValuesThatCannotBeCompared) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    mastic::test::expect_error(ExitCode::usage, "job 1", [nan] {
        allocate({{{0, {0, 1}}, {0, {0, nan}}}}, 3);
    });
    mastic::test::expect_error(ExitCode::usage, "job 0", [] { allocate({{{0, {not_allowed, 1}}}}, 3); });
    mastic::test::expect_error(ExitCode::usage, "-1 nodes", [] { allocate({}, -1); });
}

}  // namespace
}  // namespace mastic::schedule
