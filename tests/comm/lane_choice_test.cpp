#include <set>

#include <gtest/gtest.h>

#include <mastic/comm/lane_choice.hpp>

namespace mastic::comm {
namespace {

TEST(LaneChoice, OrdinaryOperationsTakeTurnsOnFewLanes) {
    LaneChoice choice(2, 3);
    EXPECT_EQ(choice.lanes(), 5);
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(choice.next(0), 0);
        EXPECT_EQ(choice.next(-1), 1);
    }
}

TEST(LaneChoice, UrgentOperationsHaveTheirOwn) {
    LaneChoice choice(2, 3);
    std::set<int> urgent;
    for (int i = 0; i < 6; ++i) {
        urgent.insert(choice.next(1 + i));
        EXPECT_LT(choice.next(0), 2);
    }
    EXPECT_EQ(urgent, (std::set<int>{2, 3, 4}));
}

}  // namespace
}  // namespace mastic::comm
