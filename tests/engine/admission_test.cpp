#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/engine/admission.hpp>

namespace mastic::engine {
namespace {

using testing::HasSubstr;

data::StepCost cost(double fixed, double per_sample) { return {Seconds(fixed), Seconds(per_sample)}; }

TEST(Admission, IsForThoseThatMakeAStepFaster) {
    const StepCosts::ByRank two = {cost(0.1, 0.01), cost(0.1, 0.01)};
    EXPECT_EQ(why_not_needed(two, 2, to_offer(cost(0.1, 0.01)), 64, 64), "");
    EXPECT_EQ(why_not_needed(two, 2, to_offer(cost(0.1, 0.1)), 64, 64), "") << "slow, but a few samples less for the others";
    const std::string why = why_not_needed(two, 2, to_offer(cost(0.5, 0.01)), 64, 64);
    EXPECT_THAT(why, HasSubstr("420 ms"));
    EXPECT_THAT(why, HasSubstr("510 ms")) << "the one sample that it would have";
}

// Each member adds its own samples: the slow one of them holds up those of the others.
TEST(Admission, WithMoreSamplesForMoreMembersTheirRateCounts) {
    const StepCosts::ByRank two = {cost(0.1, 0.01), cost(0.1, 0.01)};
    EXPECT_EQ(why_not_needed(two, 2, to_offer(cost(0.1, 0.01)), 64, 96), "") << "420 ms as before, for half as many samples more";
    EXPECT_THAT(why_not_needed(two, 2, to_offer(cost(2.0, 0.01)), 64, 96),
                testing::AllOf(HasSubstr("64 samples computes for 420 ms"), HasSubstr("96 samples computes for 2.0 s")));
}

TEST(Admission, WithASampleForEachNobodyIsNeeded) {
    const StepCosts::ByRank two = {cost(0.1, 0.01), cost(0.1, 0.01)};
    EXPECT_THAT(why_not_needed(two, 2, to_offer(cost(0.1, 0.01)), 2, 2), HasSubstr("a single sample"));
}

TEST(Admission, WhatIsNotKnownExcludesNobody) {
    const StepCosts::ByRank one = {cost(0.1, 0.01)}, silent = {cost(0.1, 0.01), std::nullopt};
    for (const char* offer : {"", "fast", "0.5 0", "nan nan", "-1 1"}) {
        EXPECT_EQ(why_not_needed(one, 1, offer, 64, 64), "") << offer;
    }
    EXPECT_EQ(why_not_needed(silent, 2, to_offer(cost(9, 9)), 64, 64), "");
    EXPECT_EQ(why_not_needed(one, 2, to_offer(cost(9, 9)), 64, 64), "") << "of another generation";
    EXPECT_EQ(why_not_needed({}, 0, to_offer(cost(9, 9)), 64, 64), "");
}

}  // namespace
}  // namespace mastic::engine
