#include <gtest/gtest.h>

#include <mastic/core/random.hpp>
#include <mastic/data/step_cost.hpp>

namespace mastic::data {
namespace {

TEST(StepCost, NothingIsSaidBeforeAnythingWasMeasured) {
    StepCostFit fit;
    EXPECT_FALSE(fit.estimate());
    fit.observe(0, Seconds(0.1));
    EXPECT_FALSE(fit.estimate()) << "a step without samples says nothing";
}

TEST(StepCost, OneSizeAloneIsTakenForProportional) {
    StepCostFit fit;
    fit.observe(32, Seconds(0.64));
    const auto cost = fit.estimate();
    ASSERT_TRUE(cost);
    EXPECT_EQ(cost->fixed, Seconds(0));
    EXPECT_NEAR(cost->per_sample.count(), 0.02, 1e-12);
    fit.observe(31, Seconds(0.9));  // hardly another size, and noise: no slope from that
    EXPECT_EQ(fit.estimate()->fixed, Seconds(0));
}

TEST(StepCost, TwoSizesShowTheFixedPartThroughNoiseAndOutliers) {
    StepCostFit fit;
    CounterRandom random(3);
    for (int step = 0; step < 32; ++step) {
        const std::uint64_t samples = step % 2 == 0 ? 32 : 48;
        const double noise = 1 + 0.02 * (random.uniform() - 0.5);
        const bool disturbed = step % 6 == 0;  // by something else on its node
        fit.observe(samples,
                    Seconds((0.05 + 0.01 * static_cast<double>(samples)) * noise * (disturbed ? 5 : 1)));
    }
    const auto cost = fit.estimate();
    ASSERT_TRUE(cost);
    EXPECT_NEAR(cost->of(32).count(), 0.37, 0.02);
    EXPECT_NEAR(cost->of(48).count(), 0.53, 0.03);
}

TEST(StepCost, FollowsAMemberThatGetsSlower) {
    StepCostFit fit;
    for (std::size_t step = 0; step < StepCostFit::window; ++step) {
        fit.observe(32, Seconds(0.3));
    }
    for (std::size_t step = 0; step < StepCostFit::window; ++step) {
        fit.observe(32, Seconds(0.6));
    }
    EXPECT_NEAR(fit.estimate()->of(32).count(), 0.6, 1e-9);
}

TEST(StepCost, ANegativeFixedPartIsNoise) {
    StepCostFit fit;
    fit.observe(10, Seconds(0.1));
    fit.observe(20, Seconds(0.4));
    EXPECT_EQ(fit.estimate()->fixed, Seconds(0));
}

}  // namespace
}  // namespace mastic::data
