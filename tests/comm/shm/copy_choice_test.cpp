// The way of private buffers follows what was measured; and where the pieces of copies lie.
#include <vector>

#include <gtest/gtest.h>

#include <mastic/comm/shm/detail/copy_choice.hpp>
#include <mastic/comm/shm/detail/node_layout.hpp>
#include <mastic/comm/shm/detail/piece_cycle.hpp>
#include <mastic/core/random.hpp>

namespace mastic::comm::detail {
namespace {

constexpr CopyChoice::Work work{0, 1 << 20};

// So many operations that take these times; returns how many were copied.
int copied(CopyChoice& choice, int operations, double kernel_s, double copy_s, CopyChoice::Work of = work) {
    int copies = 0;
    for (int i = 0; i < operations; ++i) {
        const PrivateWay way = choice.next(of);
        copies += way == PrivateWay::copy ? 1 : 0;
        choice.took(of, way, way == PrivateWay::copy ? copy_s : kernel_s);
    }
    return copies;
}

TEST(CopyChoice, TakesWhatIsFasterAfterTwoOfEach) {
    for (const bool copies_win : {true, false}) {
        CopyChoice choice;
        const double copy_s = copies_win ? 1.0 : 3.0;
        EXPECT_EQ(copied(choice, 2, 2.0, copy_s), 0);
        EXPECT_EQ(copied(choice, 2, 2.0, copy_s), 2);
        EXPECT_EQ(copied(choice, 60, 2.0, copy_s), copies_win ? 60 : 0);
    }
}

TEST(CopyChoice, SeldomTriesTheOtherOne) {
    CopyChoice choice;
    EXPECT_LE(copied(choice, 10'000, 1.0, 2.0), 40);
    EXPECT_GE(copied(choice, 10'000, 1.0, 2.0), 10);
}

TEST(CopyChoice, ChangesItsMindWhenTimesChange) {
    CopyChoice choice;
    EXPECT_GE(copied(choice, 1000, 2.0, 1.0), 950);
    copied(choice, 2000, 2.0, 5.0);  // at the latest after the longest pause between trials
    EXPECT_LE(copied(choice, 1000, 2.0, 5.0), 20);
}

TEST(CopyChoice, AnInterruptedOperationChangesNothing) {
    CopyChoice choice;
    copied(choice, 10, 2.0, 1.0);
    EXPECT_EQ(copied(choice, 1, 2.0, 100.0), 1);
    EXPECT_EQ(copied(choice, 40, 2.0, 1.0), 40);
}

TEST(CopyChoice, KnowsKindsAndSizesApart) {
    CopyChoice choice;
    const CopyChoice::Work larger{0, 2 << 20};
    const CopyChoice::Work other_kind{1, 1 << 20};
    copied(choice, 10, 2.0, 1.0);
    copied(choice, 10, 1.0, 2.0, larger);
    EXPECT_EQ(copied(choice, 2, 2.0, 1.0, other_kind), 0);
    EXPECT_EQ(copied(choice, 10, 2.0, 1.0), 10);
    EXPECT_EQ(copied(choice, 10, 1.0, 2.0, larger), 0);
    EXPECT_EQ(copied(choice, 10, 2.0, 1.0, {0, (1 << 20) + 12345}), 10);
}

TEST(PieceCycle, NeighboursAreDisjointAndInside) {
    CounterRandom random(1);
    PieceCycle cycle(shortest_cycle);
    std::size_t begin = 0;
    std::size_t end = 0;
    for (int i = 0; i < 10'000; ++i) {
        const std::size_t bytes = 64 * (1 + random.below(piece_bytes / 64));
        cycle.move_on(bytes);
        ASSERT_LE(cycle.begin() + bytes, shortest_cycle);
        ASSERT_TRUE(cycle.begin() >= end || cycle.begin() + bytes <= begin) << i;
        begin = cycle.begin();
        end = begin + bytes;
    }
}

}  // namespace
}  // namespace mastic::comm::detail
