// The allocator against an independent solver of mixed-integer programs.
#include <gtest/gtest.h>

#include <mastic/schedule/allocator.hpp>

#include "schedule/milp.hpp"
#include "schedule/random_values.hpp"

namespace mastic::schedule {
namespace {

TEST(Milp, HasTheSameOptimumOnAThousandInstances) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        const int jobs = 2 + static_cast<int>(seed % 9);
        const int nodes = 8 + static_cast<int>(seed * 13 % 90);
        const auto values = test::random_values({jobs, nodes, 32}, seed);
        const test::MilpSolution milp = test::solve_milp(values, nodes);
        ASSERT_TRUE(milp.optimal) << "seed " << seed;
        ASSERT_NEAR(allocate(values, nodes).value, milp.value, 1e-7 * std::abs(milp.value))
            << "seed " << seed;
    }
}

}  // namespace
}  // namespace mastic::schedule
