#include <mastic/core/random.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace mastic {
namespace {

TEST(CounterRandom, IsSplitMix64) {
    // The first outputs for seed 1234567, as published with the generator.
    CounterRandom random(1234567);
    for (const std::uint64_t expected :
         {6457827717110365317ull, 3203168211198807973ull, 9817491932198370423ull}) {
        EXPECT_EQ(random.next(), expected);
    }
}

TEST(CounterRandom, StartsAnywhereInItsSequence) {
    CounterRandom from_start(7);
    for (int i = 0; i < 10; ++i) {
        from_start.next();
    }
    EXPECT_EQ(CounterRandom(7, 10).next(), from_start.next());
}

TEST(CounterRandom, StaysBelowTheBoundAndReachesEachValueEquallyOften) {
    CounterRandom random(1);
    std::array<int, 7> counts{};
    for (int i = 0; i < 70'000; ++i) {
        ++counts.at(random.below(7));
    }
    // 10,000 expected, standard deviation 93: six of them.
    for (const int count : counts) {
        EXPECT_NEAR(count, 10'000, 560);
    }
    EXPECT_EQ(random.below(1), 0u);
}

TEST(CounterRandom, IsUniformFromZeroToBelowOne) {
    CounterRandom random(2);
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) {
        const double value = random.uniform();
        ASSERT_GE(value, 0.0);
        ASSERT_LT(value, 1.0);
        sum += value;
    }
    EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(CounterRandom, DerivesDifferentSeedsForDifferentStreams) {
    std::set<std::uint64_t> seeds;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (std::uint64_t stream = 0; stream < 100; ++stream) {
            seeds.insert(CounterRandom::derive(seed, stream));
        }
    }
    EXPECT_EQ(seeds.size(), 10'000u);
}

TEST(RandomPermutation, HoldsEachIndexOnceAndDependsOnTheSeed) {
    for (const std::uint64_t count : {0u, 1u, 2u, 1000u}) {
        auto order = random_permutation(count, CounterRandom(3));
        EXPECT_EQ(order, random_permutation(count, CounterRandom(3)));
        std::sort(order.begin(), order.end());
        for (std::uint64_t i = 0; i < count; ++i) {
            EXPECT_EQ(order.at(i), i);
        }
    }
    EXPECT_NE(random_permutation(1000, CounterRandom(3)), random_permutation(1000, CounterRandom(4)));
}

}  // namespace
}  // namespace mastic
