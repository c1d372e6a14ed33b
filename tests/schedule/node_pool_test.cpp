#include <mastic/schedule/node_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mastic::schedule {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::vector<int> numbers(const std::vector<IdleNode>& nodes) {
    std::vector<int> result;
    for (const IdleNode& node : nodes) {
        result.push_back(node.node);
    }
    return result;
}

// Cohorts: {0, 1, 2} at 10 s, {3, 4} at 20 s, {5, 6, 7, 8} at 30 s.
NodePool pool_of_cohorts() {
    NodePool pool(true);
    for (int node = 0; node < 9; ++node) {
        pool.add({node, node < 3 ? 10.0 : node < 5 ? 20.0 : 30.0});
    }
    return pool;
}

TEST(NodePool, GivesWholeCohortsThatFit) {
    EXPECT_THAT(numbers(pool_of_cohorts().take(3, {})), UnorderedElementsAre(0, 1, 2));
    EXPECT_THAT(numbers(pool_of_cohorts().take(2, {})), UnorderedElementsAre(3, 4));
    EXPECT_THAT(numbers(pool_of_cohorts().take(6, {})), UnorderedElementsAre(5, 6, 7, 8, 3, 4));
}

TEST(NodePool, PrefersCohortsThatTheJobHasAPartOf) {
    NodePool pool = pool_of_cohorts();
    EXPECT_THAT(numbers(pool.take(2, {{99, 30.0}})), UnorderedElementsAre(7, 8));
    EXPECT_EQ(pool.size(), 7);
}

TEST(NodePool, SplitsTheSmallestCohortIfNoneFits) {
    EXPECT_THAT(numbers(pool_of_cohorts().take(1, {})), ElementsAre(4));
}

TEST(NodePool, WithoutCohortsGivesTheHighestNumbers) {
    NodePool pool(false);
    for (int node = 0; node < 5; ++node) {
        pool.add({node, node * 1.0});
    }
    pool.remove({3, 3.0});
    const auto taken = pool.take(2, {});
    EXPECT_THAT(numbers(taken), ElementsAre(4, 2));
    EXPECT_EQ(taken[1].since_s, 2.0);
    EXPECT_EQ(pool.take(9, {}).size(), 2u);
}

TEST(NodesToRelease, AreWholeCohortsTheSmallestFirst) {
    const std::vector<IdleNode> held = {{1, 10}, {2, 10}, {3, 10}, {4, 20}, {5, 30}, {6, 30}};
    EXPECT_THAT(nodes_to_release(held, 1, true), ElementsAre(3u));
    EXPECT_THAT(nodes_to_release(held, 3, true), ElementsAre(3u, 4u, 5u));
    EXPECT_THAT(nodes_to_release(held, 2, false), ElementsAre(4u, 5u));
    EXPECT_THAT(nodes_to_release(held, 99, true), ElementsAre(0u, 1u, 2u, 3u, 4u, 5u));
}

}  // namespace
}  // namespace mastic::schedule
