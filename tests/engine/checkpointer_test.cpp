#include <gtest/gtest.h>

#include <mastic/engine/checkpointer.hpp>

namespace mastic::engine {
namespace {

TEST(AssignWriters, GivesContiguousRunsOfAboutEqualBytes) {
    EXPECT_EQ(assign_writers({10, 10, 10, 10}, 2), (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(assign_writers({100, 1, 1, 1}, 2), (std::vector<int>{0, 1, 1, 1}));
    EXPECT_EQ(assign_writers({1, 1, 1, 100}, 2), (std::vector<int>{0, 0, 0, 1}));
    EXPECT_EQ(assign_writers({5, 5, 5}, 1), (std::vector<int>{0, 0, 0}));
}

TEST(AssignWriters, StaysInRangeForAnyNumbers) {
    EXPECT_TRUE(assign_writers({}, 3).empty());
    EXPECT_EQ(assign_writers({0, 0}, 3), (std::vector<int>{0, 0}));
    for (int writers = 1; writers <= 9; ++writers) {
        int last = 0;
        for (const int writer : assign_writers({7, 0, 3, 100, 2, 2, 50, 1}, writers)) {
            EXPECT_GE(writer, last);
            EXPECT_LT(writer, writers);
            last = writer;
        }
    }
}

}  // namespace
}  // namespace mastic::engine
