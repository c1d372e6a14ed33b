#include <gtest/gtest.h>

#include <mastic/comm/plan/algorithms.hpp>
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

TEST(PlanAlgorithms, AreFoundByName) {
    for (const PlanAlgorithm& algorithm : plan_algorithms()) {
        EXPECT_EQ(find_plan_algorithm(algorithm.collective, algorithm.name), &algorithm);
    }
    EXPECT_EQ(find_plan_algorithm(Collective::allreduce, "bruck"), nullptr);
}

TEST(PlanAlgorithms, CollectivesHaveNames) {
    for (const Collective collective : collectives) {
        EXPECT_EQ(parse_collective(to_string(collective)), collective);
    }
    test::expect_error(ExitCode::usage, "did you mean 'allreduce'", [] { parse_collective("allredcue"); });
}

}  // namespace
}  // namespace mastic::comm
