// The model against the formulas of the literature.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include <mastic/tuning/plan_cost.hpp>

namespace mastic::tuning {
namespace {

using comm::Collective;

constexpr LinkCost cost{10, 0.001, 0.0003};
constexpr double a = cost.alpha_us, b = cost.beta_us_per_byte, g = cost.gamma_us_per_byte;
constexpr double n = 1 << 20;

double predict(Collective collective, const char* algorithm, int ranks, Bytes segment = Bytes{0}) {
    const PlanCost plan(*comm::find_plan_algorithm(collective, algorithm),
                        std::vector<int>(std::size_t(ranks), 0));
    return plan.predict_us(n, {cost, {}}, segment);
}

class OnPowersOfTwo : public testing::TestWithParam<int> {
  protected:
    int ranks() const { return GetParam(); }
    double p() const { return ranks(); }
    double rounds() const { return std::log2(p()); }
};
INSTANTIATE_TEST_SUITE_P(, OnPowersOfTwo, testing::Values(2, 4, 8, 16));

TEST_P(OnPowersOfTwo, RingAllreduce) {
    const double expected = 2 * (p() - 1) * (a + n / p() * b) + (p() - 1) / p() * n * g;
    EXPECT_NEAR(predict(Collective::allreduce, "ring", ranks()), expected, 1e-9 * expected);
}

TEST_P(OnPowersOfTwo, RecursiveDoubling) {
    const double expected = rounds() * (a + n * b + n * g);
    EXPECT_NEAR(predict(Collective::allreduce, "recursive-doubling", ranks()), expected, 1e-9 * expected);
}

TEST_P(OnPowersOfTwo, Rabenseifner) {
    const double expected = 2 * rounds() * a + 2 * (p() - 1) / p() * n * b + (p() - 1) / p() * n * g;
    EXPECT_NEAR(predict(Collective::allreduce, "rabenseifner", ranks()), expected, 1e-9 * expected);
}

TEST_P(OnPowersOfTwo, RecursiveHalvingReduceScatter) {
    const double expected = rounds() * a + (p() - 1) / p() * n * (b + g);
    EXPECT_NEAR(predict(Collective::reduce_scatter, "recursive-halving", ranks()), expected, 1e-9 * expected);
}

TEST_P(OnPowersOfTwo, BruckAllgather) {
    const double expected = rounds() * a + (p() - 1) / p() * n * b;
    EXPECT_NEAR(predict(Collective::allgather, "bruck", ranks()), expected, 1e-9 * expected);
}

TEST_P(OnPowersOfTwo, BinomialBroadcast) {
    const double expected = rounds() * (a + n * b);
    EXPECT_NEAR(predict(Collective::broadcast, "binomial", ranks()), expected, 1e-9 * expected);
}

class OnAnyNumber : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, OnAnyNumber, testing::Range(2, 18));

TEST_P(OnAnyNumber, RingAllgatherAndReduceScatter) {
    const double p = GetParam();
    const double gather = (p - 1) * (a + n / p * b);
    const double scatter = (p - 1) * (a + n / p * (b + g));
    EXPECT_NEAR(predict(Collective::allgather, "ring", GetParam()), gather, 1e-9 * gather);
    EXPECT_NEAR(predict(Collective::reduce_scatter, "ring", GetParam()), scatter, 1e-9 * scatter);
}

TEST_P(OnAnyNumber, ChainFollowsASegmentBehind) {
    const double p = GetParam();
    const double segment = 1 << 16;
    EXPECT_NEAR(predict(Collective::broadcast, "chain", GetParam()), (p - 1) * (a + n * b), 1e-6);
    EXPECT_NEAR(predict(Collective::broadcast, "chain", GetParam(), Bytes{1 << 16}),
                a + n * b + (p - 2) * (a + segment * b), 1e-6);
}

// No plan waits for ever in the model, and none beats the lower bounds of latency and bandwidth.
TEST_P(OnAnyNumber, EveryPlanEndsAndIsBounded) {
    for (const comm::PlanAlgorithm& plan : comm::plan_algorithms()) {
        for (const Bytes segment : {Bytes{0}, Bytes{1 << 12}}) {
            const double predicted = predict(plan.collective, plan.name, GetParam(), segment);
            EXPECT_GE(predicted, std::ceil(std::log2(GetParam())) * a) << plan.name;
            EXPECT_GE(predicted, n / GetParam() * b) << plan.name;
            EXPECT_LE(predicted, 3 * GetParam() * (a + n * (b + g))) << plan.name;
        }
    }
}

TEST(PlanCost, SegmentsNeverSlowARingDown) {
    EXPECT_LE(predict(Collective::allreduce, "ring", 8, Bytes{1 << 12}),
              predict(Collective::allreduce, "ring", 8) + 1e-6);
}

// Two ranks on each of two nodes: a ring crosses the network once per node and direction, pairwise exchange of the
// whole buffer twice at the same time, through one port.
TEST(PlanCost, RanksOfANodeShareItsNetworkPort) {
    const LevelCosts costs{{0, 0, 0}, {0, b, 0}};
    const PlanCost ring(*comm::find_plan_algorithm(Collective::allgather, "ring"), {0, 0, 1, 1});
    EXPECT_NEAR(ring.predict_us(n, costs, Bytes{0}), 3 * n / 4 * b, 1e-6);
    const PlanCost doubling(*comm::find_plan_algorithm(Collective::allreduce, "recursive-doubling"),
                            {0, 0, 1, 1});
    EXPECT_NEAR(doubling.predict_us(n, costs, Bytes{0}), 2 * n * b, 1e-6);
}

}  // namespace
}  // namespace mastic::tuning
