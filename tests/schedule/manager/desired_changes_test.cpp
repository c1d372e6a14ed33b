#include <mastic/schedule/manager/desired_changes.hpp>

#include <gmock/gmock.h>

namespace mastic::schedule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> trainings_of(const DesiredChanges& changes) {
    std::vector<std::string> names;
    std::ranges::transform(changes.come, std::back_inserter(names), &Placement::training);
    return names;
}

std::vector<int> nodes_of(const DesiredChanges& changes) {
    std::vector<int> nodes;
    for (const Placement& placement : changes.come) {
        nodes.push_back(placement.node.node);
    }
    return nodes;
}

TEST(DesiredChanges, NothingChangesWhereAllHaveWhatTheyShallHave) {
    const DesiredChanges changes =
        desired_changes({{"a", 1, {{{3, 10}, "7", false}}, 9}}, {{1, 0}, {2, 0}}, 9);
    EXPECT_THAT(changes.leave, IsEmpty());
    EXPECT_THAT(changes.come, IsEmpty());
}

TEST(DesiredChanges, WhoMissesMostChoosesFirst) {
    const DesiredChanges changes =
        desired_changes({{"a", 1, {}, 9}, {"b", 3, {}, 9}}, {{1, 0}, {2, 0}, {3, 0}}, 9);
    EXPECT_THAT(trainings_of(changes), ElementsAre("b", "b", "b"));
}

TEST(DesiredChanges, NodesThatBecameIdleTogetherGoToOneTraining) {
    const std::vector<IdleNode> free = {{1, 100}, {2, 200}, {3, 100}, {4, 200}};
    const DesiredChanges changes =
        desired_changes({{"a", 3, {{{5, 200}, "7", false}}, 9}, {"b", 2, {}, 9}}, free, 9);
    EXPECT_THAT(trainings_of(changes), ElementsAre("a", "a", "b", "b"));
    EXPECT_THAT(nodes_of(changes), UnorderedElementsAre(2, 4, 1, 3));
    EXPECT_THAT(std::vector<int>({nodes_of(changes)[0], nodes_of(changes)[1]}), UnorderedElementsAre(2, 4));
}

TEST(DesiredChanges, ANodeIsNeverTakenFromOneAndGivenToAnotherAtOnce) {
    const DesiredChanges changes =
        desired_changes({{"a", 0, {{{1, 0}, "7", false}}, 9}, {"b", 1, {}, 9}}, {}, 9);
    EXPECT_THAT(changes.leave, ElementsAre("7"));
    EXPECT_THAT(changes.come, IsEmpty());
}

TEST(DesiredChanges, PilotsThatWaitAreGivenUpFirst) {
    const std::vector<HeldNode> held = {{{1, 0}, "7", false}, {{2, 0}, "8", true}, {{3, 0}, "9", false}};
    EXPECT_THAT(desired_changes({{"a", 2, held, 9}}, {}, 9).leave, ElementsAre("8"));
    EXPECT_THAT(desired_changes({{"a", 1, held, 9}}, {}, 9).leave, ElementsAre("8", "9"));
    EXPECT_THAT(desired_changes({{"a", 0, held, 9}}, {}, 9).leave, UnorderedElementsAre("7", "8", "9"));
}

TEST(DesiredChanges, NoMoreComeThanOneRoundMaySubmit) {
    const std::vector<IdleNode> free = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}};
    EXPECT_EQ(desired_changes({{"a", 3, {}, 9}, {"b", 2, {}, 9}}, free, 4).come.size(), 4u);
    EXPECT_EQ(desired_changes({{"a", 3, {}, 9}, {"b", 2, {}, 9}}, free, 0).come.size(), 0u);
    EXPECT_THAT(trainings_of(desired_changes({{"a", 3, {}, 0}, {"b", 2, {}, 1}}, free, 4)), ElementsAre("b"));
}

}  // namespace
}  // namespace mastic::schedule
