#include <gtest/gtest.h>

#include <mastic/tuning/race.hpp>
#include <mastic/tuning/time_plan.hpp>

namespace mastic::tuning {
namespace {

constexpr RaceRules rules{.least = 4, .most = 10, .hopeless_after = 2, .hopeless = 3, .clear_after = 3};

TEST(Race, DropsTheHopelessAfterTwoRepetitions) {
    Race race(2, rules);
    race.add(std::vector<double>{10, 100});
    EXPECT_EQ(race.running(), 2u);
    race.add(std::vector<double>{10, 100});
    EXPECT_TRUE(race.is_running(0));
    EXPECT_FALSE(race.is_running(1));
}

TEST(Race, DropsWhoseLowerQuartileIsAboveTheLeadersUpper) {
    Race race(3, rules);
    for (const double noise : {0.0, 0.4, -0.4}) {
        race.add(std::vector<double>{10 + noise, 12 + noise, 10.2 - noise});
    }
    EXPECT_TRUE(race.is_running(0));
    EXPECT_FALSE(race.is_running(1));
    EXPECT_TRUE(race.is_running(2));
}

TEST(Race, OneSlowRepetitionDropsNobody) {
    Race race(2, rules);
    race.add(std::vector<double>{10, 10});
    race.add(std::vector<double>{10, 500});
    race.add(std::vector<double>{10, 10});
    EXPECT_TRUE(race.is_running(1));
}

TEST(Race, IsOverWhenOneIsLeftAndHasRunOftenEnough) {
    Race race(2, rules);
    for (int i = 0; i < 3; ++i) {
        race.add(std::vector<double>{10, 100});
        EXPECT_FALSE(race.is_over());
    }
    race.add(std::vector<double>{10, 100});
    EXPECT_TRUE(race.is_over());
    EXPECT_EQ(race.times_us(0).size(), 4u);
    EXPECT_EQ(race.times_us(1).size(), 2u);
}

TEST(Race, EqualsRunUntilTheLimitAndTheSmallerMedianWins) {
    Race race(2, rules);
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(race.is_over());
        race.add(std::vector<double>{10.0 + i % 3, 9.9 + i % 3});
    }
    EXPECT_TRUE(race.is_over());
    EXPECT_EQ(race.leader(), 1u);
}

TEST(TimingOf, IsTheMedianWithQuartiles) {
    const Timing timing = timing_of({5, 1, 3, 2, 4});
    EXPECT_EQ(timing.median_us, 3);
    EXPECT_EQ(timing.q1_us, 2);
    EXPECT_EQ(timing.q3_us, 4);
    EXPECT_EQ(timing.repetitions, 5);
}

TEST(TimePlan, SharesWhatIsLeftByWeight) {
    const TimePlan plan({1, 1, 2}, Seconds{40});
    EXPECT_DOUBLE_EQ(plan.allotted(0, Seconds{0}).count(), 10);
    EXPECT_DOUBLE_EQ(plan.allotted(1, Seconds{1}).count(), 13);   // 39 left, a third of it
    EXPECT_DOUBLE_EQ(plan.allotted(2, Seconds{20}).count(), 20);  // the last gets all
    EXPECT_DOUBLE_EQ(plan.allotted(2, Seconds{50}).count(), 0);
}

TEST(TimePlan, LargeBuffersAndAllreduceWeighMore) {
    using comm::Collective;
    EXPECT_GT(cell_weight(Collective::broadcast, Bytes{64u << 20}),
              cell_weight(Collective::broadcast, Bytes{64}));
    EXPECT_GT(cell_weight(Collective::allreduce, Bytes{64}), cell_weight(Collective::broadcast, Bytes{64}));
}

}  // namespace
}  // namespace mastic::tuning
