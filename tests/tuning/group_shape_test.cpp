#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/tuning/group_shape.hpp>

namespace mastic::tuning {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(GroupShape, OfRanksThatAreSpreadEvenly) {
    EXPECT_EQ(shape_of(8, 2), (GroupShape{2, 4}));
    EXPECT_EQ(shape_of(7, 2), (GroupShape{2, 4}));
    EXPECT_EQ(shape_of(1, 1), (GroupShape{1, 1}));
}

TEST(ShapesWithin, ArePowersOfTwoAndTheWholeAllocation) {
    EXPECT_THAT(shapes_within({3, 2}), ElementsAre(GroupShape{3, 2}, GroupShape{2, 2}, GroupShape{3, 1},
                                                   GroupShape{2, 1}, GroupShape{1, 2}));
    EXPECT_THAT(shapes_within({1, 1}), ElementsAre());
    EXPECT_THAT(shapes_within({1, 6}), ElementsAre(GroupShape{1, 6}, GroupShape{1, 4}, GroupShape{1, 2}));
}

TEST(NearestShape, IsTheOwnOneIfItIsThere) {
    const std::vector<GroupShape> known = {{4, 8}, {2, 8}, {2, 4}};
    EXPECT_THAT(nearest_shape(known, {2, 8}), Optional(GroupShape{2, 8}));
}

TEST(NearestShape, CountsRatiosOfNodesAndRanks) {
    const std::vector<GroupShape> known = {{2, 2}, {8, 2}, {8, 16}};
    EXPECT_THAT(nearest_shape(known, {16, 2}), Optional(GroupShape{8, 2}));
    EXPECT_THAT(nearest_shape(known, {3, 2}), Optional(GroupShape{2, 2}));
    EXPECT_THAT(nearest_shape(known, {16, 12}), Optional(GroupShape{8, 16}));
}

TEST(NearestShape, OfEqualsTakesTheSmaller) {
    const std::vector<GroupShape> known = {{8, 2}, {2, 2}};
    EXPECT_THAT(nearest_shape(known, {4, 2}), Optional(GroupShape{2, 2}));
}

TEST(NearestShape, StaysAmongShapesOfItsKind) {
    const std::vector<GroupShape> one_node = {{1, 4}}, network = {{4, 1}}, both = {{2, 2}};
    EXPECT_THAT(nearest_shape(one_node, {1, 16}), Optional(GroupShape{1, 4}));
    EXPECT_EQ(nearest_shape(one_node, {2, 4}), std::nullopt);
    EXPECT_EQ(nearest_shape(network, {4, 2}), std::nullopt);
    EXPECT_EQ(nearest_shape(both, {2, 1}), std::nullopt);
}

TEST(GroupShape, IsWrittenForPeople) {
    EXPECT_EQ(to_string(GroupShape{2, 1}), "2 nodes x 1 rank");
}

}  // namespace
}  // namespace mastic::tuning
