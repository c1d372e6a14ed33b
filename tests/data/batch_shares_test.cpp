#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include <mastic/core/random.hpp>
#include <mastic/data/batch_shares.hpp>

#include "support/expect_error.hpp"

namespace mastic::data {
namespace {

StepCost cost(double fixed, double per_sample) {
    return {Seconds(fixed), Seconds(per_sample)};
}

std::uint64_t sum(const Shares& shares) {
    return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
}

std::vector<StepCost> random_costs(CounterRandom& random, std::size_t members) {
    std::vector<StepCost> costs;
    for (std::size_t i = 0; i < members; ++i) {
        costs.push_back(
            cost(random.below(3) == 0 ? 0.0 : 0.2 * random.uniform(), 0.001 + 0.02 * random.uniform()));
    }
    return costs;
}

TEST(BatchShares, TwiceTheSpeedIsTwiceTheShare) {
    const std::vector costs = {cost(0, 0.01), cost(0, 0.02)};
    EXPECT_EQ(balanced_shares(costs, 96), (Shares{64, 32}));
}

TEST(BatchShares, AFixedPartCountsToo) {
    const std::vector costs = {cost(0.1, 0.01), cost(0.3, 0.01)};
    EXPECT_EQ(balanced_shares(costs, 100), (Shares{60, 40}));  // both 0.7 s
}

TEST(BatchShares, WithinThreePercentOfTheBestForTwoUnequalMembers) {
    CounterRandom random(7);
    for (int instance = 0; instance < 2000; ++instance) {
        const std::vector<StepCost> costs = random_costs(random, 2);
        const std::uint64_t batch = 32 + random.below(500);
        const Shares shares = balanced_shares(costs, batch);
        ASSERT_EQ(sum(shares), batch);
        Seconds best = step_time(costs, {1, batch - 1});
        for (std::uint64_t mine = 2; mine < batch; ++mine) {
            best = std::min(best, step_time(costs, {mine, batch - mine}));
        }
        ASSERT_LE(step_time(costs, shares), best * 1.03)
            << "instance " << instance << ": " << shares[0] << " of " << batch;
    }
}

TEST(BatchShares, EveryMemberKeepsASample) {
    CounterRandom random(8);
    for (int instance = 0; instance < 500; ++instance) {
        const std::size_t members = 1 + random.below(12);
        std::vector<StepCost> costs = random_costs(random, members);
        costs.front() = cost(100, 1);  // hopelessly slow
        const std::uint64_t batch = members + random.below(200);
        const Shares shares = balanced_shares(costs, batch);
        ASSERT_EQ(sum(shares), batch);
        ASSERT_GE(*std::ranges::min_element(shares), 1u);
        ASSERT_TRUE(members == 1 || shares.front() == 1);
    }
    test::expect_error(ExitCode::usage, "3 members", [] { balanced_shares(std::vector(3, cost(0, 1)), 2); });
}

TEST(BatchShares, NothingChangesForALittle) {
    const std::vector<std::optional<StepCost>> alike = {cost(0, 0.0100), cost(0, 0.0104)};
    EXPECT_EQ(next_shares(alike, {32, 32}), (Shares{32, 32}));
    EXPECT_EQ(next_shares(std::vector<std::optional<StepCost>>(2), {32, 32}), (Shares{32, 32}));
}

TEST(BatchShares, AShareAtMostDoublesAtOnceAndThenSettles) {
    const std::vector<std::optional<StepCost>> costs = {cost(0, 0.01), cost(0, 0.08)};
    Shares shares = {32, 32};
    shares = next_shares(costs, shares);
    EXPECT_GE(shares[1], 12u);
    for (int round = 0; round < 6; ++round) {
        shares = next_shares(costs, shares);
        EXPECT_EQ(sum(shares), 64u);
    }
    EXPECT_EQ(shares, balanced_shares(std::vector{*costs[0], *costs[1]}, 64));
}

TEST(BatchShares, WhoHasNotMeasuredCountsAsTheMean) {
    const std::vector<std::optional<StepCost>> costs = {cost(0, 0.01), cost(0, 0.03), std::nullopt};
    const Shares shares = next_shares(costs, {30, 30, 30});
    EXPECT_GT(shares[0], shares[2]);
    EXPECT_GT(shares[2], shares[1]);
}

TEST(BatchShares, ANewcomerHelpsUnlessItStartsLaterThanTheOthersEnd) {
    const std::vector costs = {cost(0.1, 0.01), cost(0.1, 0.01)};  // 64: 0.42 s
    EXPECT_TRUE(would_help(costs, cost(0.1, 0.01), 64, 64));
    EXPECT_TRUE(would_help(costs, cost(0.1, 0.1), 64, 64));
    EXPECT_FALSE(would_help(costs, cost(0.5, 0.001), 64, 64));
    EXPECT_FALSE(would_help(costs, cost(0.1, 0.01), 2, 2)) << "no sample for it";
}

TEST(BatchShares, ANewcomerThatBringsSamplesHelpsIfMoreAreDoneInATime) {
    const std::vector costs = {cost(0.1, 0.01), cost(0.1, 0.01)};
    EXPECT_TRUE(would_help(costs, cost(0.5, 0.01), 64, 96)) << "0.51 s at least, but 0.63 s would do";
    EXPECT_FALSE(would_help(costs, cost(0.7, 0.01), 64, 96));
}

TEST(BatchShares, EqualSharesDifferByOne) {
    EXPECT_EQ(equal_shares(10, 4), (Shares{3, 3, 2, 2}));
}

}  // namespace
}  // namespace mastic::data
