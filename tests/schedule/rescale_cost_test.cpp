#include <mastic/schedule/rescale_cost.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <mastic/schedule/horizon.hpp>
#include <mastic/schedule/lifetimes.hpp>

namespace mastic::schedule {
namespace {

const ThroughputCurve linear = curve_through({{16, 16.0}});

double progress(const JobNodes& job, int nodes, const RescaleCosts& costs, int least = 1) {
    return expected_progress(linear, job, nodes, least, 0, 100, costs);
}

TEST(ExpectedProgress, OfKeepingIsTheRate) {
    EXPECT_DOUBLE_EQ(progress({4, {}, 0}, 4, live_growth), 400);
    EXPECT_DOUBLE_EQ(progress({4, {}, 30}, 4, live_growth), 280);
    EXPECT_DOUBLE_EQ(progress({0, {}, 0}, 0, live_growth), 0);
}

TEST(ExpectedProgress, OfLiveGrowthStopsNobodyUntilTheOthersJoin) {
    EXPECT_DOUBLE_EQ(progress({4, {}, 0}, 8, live_growth), 4 * 18 + 8 * (100 - 18 - 1));
    EXPECT_DOUBLE_EQ(progress({4, {}, 0}, 8, stop_and_restart), 8 * (100 - 18));
}

// Starting from nothing is not free.
TEST(ExpectedProgress, OfAStartLosesTheStart) {
    EXPECT_DOUBLE_EQ(progress({}, 8, live_growth), 8 * (100 - 18));
    EXPECT_DOUBLE_EQ(progress({}, 8, stop_and_restart), 8 * (100 - 18));
}

TEST(ExpectedProgress, OfShrinkingGivesUpStartingNodesFirst) {
    const JobNodes job{4, {{3, 10}, {2, 15}}, 0};
    EXPECT_DOUBLE_EQ(progress(job, 9, live_growth), 4 * 10 + 7 * 4 + 9 * 84);
    EXPECT_DOUBLE_EQ(progress(job, 7, live_growth), 4 * 10 + 7 * 89);
    EXPECT_DOUBLE_EQ(progress(job, 4, live_growth), 400);
    EXPECT_DOUBLE_EQ(progress(job, 3, live_growth), 3 * 98);
}

TEST(ExpectedProgress, NeedsTheLeastNumberOfNodes) {
    EXPECT_DOUBLE_EQ(progress({2, {{4, 20}}, 0}, 6, live_growth, 4), 6 * (100 - 21));
}

TEST(Lifetimes, PredictWhatIsLeft) {
    Lifetimes lifetimes;
    EXPECT_EQ(lifetimes.expected_residual_s(0), 600);
    for (int i = 0; i < 90; ++i) {
        lifetimes.add(100);
    }
    for (int i = 0; i < 10; ++i) {
        lifetimes.add(5000);
    }
    EXPECT_NEAR(lifetimes.expected_residual_s(0), 590, 1);
    EXPECT_NEAR(lifetimes.expected_residual_s(1000), 4000, 1);  // who lives so long lives longer
    EXPECT_EQ(lifetimes.expected_residual_s(9000), 9000);
}

TEST(HorizonTuner, ClimbsToTheBestHorizon) {
    HorizonTuner tuner;
    EXPECT_EQ(tuner.horizon_s(), 60);
    const auto best_at = [](double best) {
        return [best](const IdleTrace&, double horizon) { return 1000 - std::abs(horizon - best); };
    };
    for (int day = 0; day < 5; ++day) {
        tuner.tune({}, best_at(170));
    }
    EXPECT_EQ(tuner.horizon_s(), 170);
    tuner.tune({}, [](const IdleTrace&, double) { return 1.0; });
    EXPECT_EQ(tuner.horizon_s(), 170);
    for (int day = 0; day < 20; ++day) {
        tuner.tune({}, best_at(0));
    }
    EXPECT_EQ(tuner.horizon_s(), 30);
}

}  // namespace
}  // namespace mastic::schedule
