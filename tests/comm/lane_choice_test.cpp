#include <set>

#include <gtest/gtest.h>

#include <mastic/comm/lane_choice.hpp>

namespace mastic::comm {
namespace {

constexpr Bytes small{1000};
constexpr Bytes large{4u << 20};

TEST(LaneChoice, LargeOperationsShareALane) {
    LaneChoice choice(2, 3);
    EXPECT_EQ(choice.lanes(), 6);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(choice.next(0, large), 0);
        EXPECT_NE(choice.next(0, small), 0);
    }
}

TEST(LaneChoice, SmallOperationsTakeTurns) {
    LaneChoice choice(2, 3);
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(choice.next(0, small), 1);
        EXPECT_EQ(choice.next(-1, small), 2);
    }
}

TEST(LaneChoice, UrgentOperationsHaveTheirOwn) {
    LaneChoice choice(2, 3);
    std::set<int> urgent;
    for (int i = 0; i < 6; ++i) {
        urgent.insert(choice.next(1 + i, i % 2 == 0 ? small : large));
        EXPECT_LT(choice.next(0, large), 3);
        EXPECT_LT(choice.next(0, small), 3);
    }
    EXPECT_EQ(urgent, (std::set<int>{3, 4, 5}));
}

}  // namespace
}  // namespace mastic::comm
