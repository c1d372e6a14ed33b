#include <gtest/gtest.h>

#include <mastic/tuning/cost_model.hpp>

namespace mastic::tuning {
namespace {

using comm::Collective;
using comm::TransportKind;

// What a machine with these costs would measure, by the formulas (p a power of two).
std::vector<CostSample> samples_of(const LinkCost& cost, TransportKind transport, Level level, int ranks) {
    std::vector<CostSample> samples;
    for (const comm::PlanAlgorithm& plan : comm::plan_algorithms()) {
        const PlanCost model(plan, std::vector<int>(std::size_t(ranks), 0));
        for (const std::uint64_t bytes : {64u, 65536u, 1u << 22}) {
            samples.push_back({transport, level, plan.collective, plan.name, ranks, Bytes{bytes},
                               model.predict_us(double(bytes), {cost, cost}, Bytes{0})});
        }
    }
    return samples;
}

TEST(FitLinks, FindsTheCostsThatMadeTheSamples) {
    const LinkCost cost{25, 0.008, 0.0002};
    const auto fits = fit_links(samples_of(cost, TransportKind::tcp, Level::network, 4));
    ASSERT_EQ(fits.size(), 1u);
    EXPECT_EQ(fits[0].transport, TransportKind::tcp);
    EXPECT_EQ(fits[0].level, Level::network);
    EXPECT_NEAR(fits[0].cost.alpha_us, cost.alpha_us, 1e-3);
    EXPECT_NEAR(fits[0].cost.beta_us_per_byte, cost.beta_us_per_byte, 1e-8);
    EXPECT_NEAR(fits[0].cost.gamma_us_per_byte, cost.gamma_us_per_byte, 1e-8);
    EXPECT_LT(fits[0].typical_error, 1e-6);
}

TEST(FitLinks, NeverGivesNegativeCosts) {
    auto samples = samples_of({5, 0.001, 0}, TransportKind::mpi, Level::node, 4);
    for (CostSample& sample : samples) {
        if (sample.collective == Collective::allreduce) {
            sample.median_us *= 0.7;  // as if reducing gave time back
        }
    }
    const auto fits = fit_links(samples);
    ASSERT_EQ(fits.size(), 1u);
    EXPECT_EQ(fits[0].cost.gamma_us_per_byte, 0);
    EXPECT_GT(fits[0].cost.alpha_us, 0);
    EXPECT_GT(fits[0].typical_error, 0.01);
}

TEST(FitLinks, NeedsThreeSamplesOfALink) {
    auto samples = samples_of({5, 0.001, 0}, TransportKind::mpi, Level::node, 2);
    samples.resize(2);
    EXPECT_TRUE(fit_links(samples).empty());
}

const std::vector<LinkFit> links = {
    {TransportKind::mpi, Level::network, {100, 0.01, 0.0001}, 10, 0},
    {TransportKind::tcp, Level::network, {60, 0.008, 0.0001}, 10, 0},
    {TransportKind::shm, Level::node, {1, 0.0001, 0.0001}, 10, 0},
};

TEST(PredictSelection, SmallBuffersSaveRoundsAndLargeOnesBytes) {
    const auto selection = predict_selection(links, {8, 1});
    ASSERT_TRUE(selection.has_value());
    EXPECT_EQ(selection->find(Collective::allreduce, Bytes{64})->algorithm, "recursive-doubling");
    EXPECT_NE(selection->find(Collective::allreduce, Bytes{64u << 20})->algorithm, "recursive-doubling");
    EXPECT_EQ(selection->find(Collective::allgather, Bytes{64})->algorithm, "bruck");
    EXPECT_EQ(selection->find(Collective::broadcast, Bytes{64})->algorithm, "binomial");
    EXPECT_EQ(selection->find(Collective::broadcast, Bytes{64u << 20})->algorithm, "chain");
}

TEST(PredictSelection, TakesTheCheaperTransport) {
    const auto selection = predict_selection(links, {4, 1});
    for (const comm::SelectionRow& row : selection->rows()) {
        EXPECT_EQ(row.choice.transport, TransportKind::tcp);
    }
    EXPECT_EQ(predict_selection(links, {1, 4})->find(Collective::allreduce, Bytes{4096})->transport,
              TransportKind::shm);
}

TEST(PredictSelection, ReducesInsideTheNodesFirstWhereTheNetworkIsSlow) {
    EXPECT_TRUE(
        predict_selection(links, {4, 8})->find(Collective::allreduce, Bytes{16u << 20})->hierarchical);
}

TEST(PredictSelection, SaysNothingWithoutAFitOrForManyRanks) {
    EXPECT_FALSE(predict_selection({}, {2, 1}).has_value());
    EXPECT_FALSE(predict_selection(std::vector<LinkFit>{links[2]}, {2, 2}).has_value());
    EXPECT_FALSE(predict_selection(links, {most_modelled_ranks + 1, 1}).has_value());
    EXPECT_FALSE(predict_selection(links, {1, 1}).has_value());
}

}  // namespace
}  // namespace mastic::tuning
