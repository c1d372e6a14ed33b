// The parts of a sweep that need no ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/tuning/sweep.hpp>

namespace mastic::tuning {
namespace {

using comm::Collective;
using comm::Wire;
using testing::ElementsAre;

TEST(SizesBetween, MultiplyUpToTheLargest) {
    EXPECT_THAT(sizes_between(Bytes{64}, Bytes{1024}, 4), ElementsAre(Bytes{64}, Bytes{256}, Bytes{1024}));
    EXPECT_THAT(sizes_between(Bytes{64}, Bytes{1000}, 4), ElementsAre(Bytes{64}, Bytes{256}));
    EXPECT_THAT(sizes_between(Bytes{64}, Bytes{32}, 4), ElementsAre());
}

TEST(CellsOf, GoThroughShapesThenCollectivesThenSizesAndRoundOnlyAllreduce) {
    SweepOptions options;
    options.collectives = {Collective::allreduce, Collective::broadcast};
    options.wires = {Wire::bfloat16};
    options.sizes = {Bytes{64}, Bytes{256}};
    const std::vector<GroupShape> shapes = {{2, 2}, {1, 2}};
    const std::vector<Cell> cells = cells_of(shapes, options);
    ASSERT_EQ(cells.size(), 12u);
    EXPECT_EQ(cells[0], (Cell{{2, 2}, Collective::allreduce, Wire::exact, Bytes{64}}));
    EXPECT_EQ(cells[3], (Cell{{2, 2}, Collective::allreduce, Wire::bfloat16, Bytes{256}}));
    EXPECT_EQ(cells[4], (Cell{{2, 2}, Collective::broadcast, Wire::exact, Bytes{64}}));
    EXPECT_EQ(cells[6].shape, (GroupShape{1, 2}));
    EXPECT_EQ(to_string(cells[2]), "2 nodes x 2 ranks, allreduce on bfloat16, 64");
}

TEST(CellsOf, MeasureEachMemoryOfAShapeBeforeTheNextShape) {
    SweepOptions options;
    options.collectives = {Collective::allreduce};
    options.sizes = {Bytes{64}};
    options.memories = {comm::MemoryKind::host, comm::MemoryKind::device};
    const std::vector<GroupShape> shapes = {{2, 2}, {1, 2}};
    const std::vector<Cell> cells = cells_of(shapes, options);
    ASSERT_EQ(cells.size(), 4u);
    EXPECT_EQ(cells[1].memory, comm::MemoryKind::device);
    EXPECT_EQ(cells[1].shape, (GroupShape{2, 2}));
    EXPECT_EQ(to_string(cells[1]), "2 nodes x 2 ranks, allreduce of device memory, 64");
}

class ContributionsOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, ContributionsOf, testing::Values(1, 2, 3, 17, 128, 129, 1000));

// So that bfloat16, which has 8 significant bits, holds every partial sum.
TEST_P(ContributionsOf, AnyNumberOfRanksSumExactlyOnAnyWire) {
    const int ranks = GetParam();
    for (std::size_t index = 0; index < 300; ++index) {
        float sum = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            sum += contribution(rank, ranks, index);
        }
        EXPECT_EQ(sum, sum_of_contributions(ranks, index));
        EXPECT_LE(sum, 256);
    }
}

TEST_P(ContributionsOf, EveryRankCounts) {
    const int ranks = GetParam();
    for (int rank = 0; rank < ranks; ++rank) {
        float sum = 0;
        for (std::size_t index = 0; index < 300; ++index) {
            sum += contribution(rank, ranks, index);
        }
        EXPECT_GT(sum, 0) << rank;
    }
}

TEST(OperationsFor, FillAMillisecond) {
    EXPECT_EQ(operations_for(2), 256);
    EXPECT_EQ(operations_for(100), 10);
    EXPECT_EQ(operations_for(5000), 1);
    EXPECT_EQ(operations_for(0), 256);
}

}  // namespace
}  // namespace mastic::tuning
