#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <mastic/model/loss.hpp>
#include <mastic/model/registry.hpp>

#include "support/expect_error.hpp"

namespace mastic::model {
namespace {

using test::expect_error;

TEST(CrossEntropy, IsTheSumOverSamples) {
    // -log softmax: log(1 + e^-2) for the first, log(3) for the second.
    const auto outputs = torch::tensor({{2.0f, 0.0f, -INFINITY}, {1.0f, 1.0f, 1.0f}});
    const auto loss = loss_sum(LossKind::cross_entropy, outputs, torch::tensor({0, 2}, torch::kLong));
    EXPECT_EQ(loss.scalar_type(), torch::kDouble);
    EXPECT_NEAR(loss.item<double>(), std::log1p(std::exp(-2.0)) + std::log(3.0), 1e-6);
}

TEST(CrossEntropy, CountsASequenceAsTheMeanOfItsPositions) {
    // Two sequences of two positions; uniform over 4 words costs log(4) a position.
    auto outputs = torch::zeros({2, 2, 4});
    outputs[0][0][3] = 1e4f;  // certain, and right
    const auto targets = torch::tensor({{3, 0}, {1, 2}}, torch::kLong);
    const double expected = 0.5 * std::log(4.0) + std::log(4.0);
    EXPECT_NEAR(loss_sum(LossKind::cross_entropy, outputs, targets).item<double>(), expected, 1e-6);
    const auto sums = metric_sums(LossKind::cross_entropy, outputs, targets);
    EXPECT_NEAR(metric_value("perplexity", sums), std::exp(expected / 2), 1e-5);
    EXPECT_DOUBLE_EQ(metric_value("accuracy", sums), 2.0 / 4);  // argmax of equals is the first
}

TEST(CrossEntropy, DoesNotDependOnHowTheBatchIsCut) {
    torch::manual_seed(1);
    const auto outputs = torch::randn({101, 10}).requires_grad_();
    const auto targets = torch::randint(10, {101}, torch::kLong);
    const auto whole = loss_sum(LossKind::cross_entropy, outputs, targets);
    const auto first = loss_sum(LossKind::cross_entropy, outputs.narrow(0, 0, 60), targets.narrow(0, 0, 60));
    const auto second =
        loss_sum(LossKind::cross_entropy, outputs.narrow(0, 60, 41), targets.narrow(0, 60, 41));
    EXPECT_NEAR(whole.item<double>(), (first + second).item<double>(), 1e-10);
    const auto a = torch::autograd::grad({whole / 101}, {outputs})[0];
    const auto b = torch::autograd::grad({first / 101 + second / 101}, {outputs})[0];
    EXPECT_TRUE(a.equal(b));
}

TEST(MeanSquaredError, IsTheSumOverSamplesOfTheMeanOverValues) {
    const auto outputs = torch::tensor({{1.0f, 2.0f}, {0.0f, 0.0f}});
    const auto targets = torch::tensor({{0.0f, 0.0f}, {3.0f, 1.0f}});
    EXPECT_DOUBLE_EQ(loss_sum(LossKind::mse, outputs, targets).item<double>(), 5.0 / 2 + 10.0 / 2);
    const auto sums = metric_sums(LossKind::mse, outputs, targets);
    EXPECT_DOUBLE_EQ(metric_value("mse", sums), 3.75);
}

TEST(MeanSquaredError, DoesNotBroadcastAColumnAgainstARow) {
    const auto outputs = torch::tensor({1.0f, 2.0f}).reshape({2, 1});
    EXPECT_DOUBLE_EQ(loss_sum(LossKind::mse, outputs, torch::tensor({1.0f, 4.0f})).item<double>(), 4.0);
}

TEST(Loss, OfNoSampleIsZeroWithZeroGradients) {
    for (const LossKind kind : {LossKind::cross_entropy, LossKind::mse}) {
        const auto outputs = torch::zeros({0, 3}).requires_grad_();
        const auto targets = kind == LossKind::mse ? torch::zeros({0, 3})
                                                   : torch::zeros({0}, torch::TensorOptions(torch::kLong));
        const auto loss = loss_sum(kind, outputs, targets);
        EXPECT_EQ(loss.item<double>(), 0.0);
        EXPECT_EQ(torch::autograd::grad({loss}, {outputs})[0].numel(), 0);
        EXPECT_EQ(metric_sums(kind, outputs, targets).samples(), 0.0);
    }
}

TEST(Loss, OfNoSampleHasZeroGradientsEvenWhereAWeightIsNotFinite) {
    const auto network = create_network({.name = "mlp", .hidden = {2}}, {{3}, 2});
    network->parameters()[0].data().fill_(NAN);
    const auto loss = training_loss(*network, LossKind::cross_entropy, torch::zeros({0, 3}),
                                    torch::zeros({0}, torch::TensorOptions(torch::kLong)));
    loss.sum.backward();
    EXPECT_EQ(loss.sum.item<double>(), 0.0);
    EXPECT_TRUE(network->parameters()[0].grad().equal(torch::zeros({2, 3})));
}

TEST(Loss, OfHalfPrecisionOutputsIsComputedInFloat) {
    const auto outputs = torch::full({4096, 2}, 1.0f).to(torch::kBFloat16);
    const auto targets = torch::zeros({4096}, torch::TensorOptions(torch::kLong));
    EXPECT_NEAR(loss_sum(LossKind::cross_entropy, outputs, targets).item<double>(), 4096 * std::log(2.0),
                1e-3);
}

TEST(Loss, RefusesTargetsThatDoNotFit) {
    const auto outputs = torch::zeros({2, 3});
    const auto check = [&](LossKind kind, const torch::Tensor& targets, const char* part) {
        expect_error(ExitCode::data, part, [&] { loss_sum(kind, outputs, targets); });
    };
    check(LossKind::cross_entropy, torch::tensor({0, 3}, torch::kLong),
          "class 3; the model has classes 0 to 2");
    check(LossKind::cross_entropy, torch::tensor({-1, 0}, torch::kLong), "class -1");
    check(LossKind::cross_entropy, torch::tensor({0, 1, 2}, torch::kLong), "(3) do not fit");
    check(LossKind::mse, torch::zeros({2}), "(2) do not fit the model's outputs (2, 3)");
}

TEST(Metrics, OfUnevenRanksAddUp) {
    MetricSums total;
    const auto right = torch::tensor({{1.0f, 0.0f}, {1.0f, 0.0f}, {1.0f, 0.0f}});
    total += metric_sums(LossKind::cross_entropy, right, torch::tensor({0, 0, 1}, torch::kLong));
    total += metric_sums(LossKind::cross_entropy, right.narrow(0, 0, 1), torch::tensor({0}, torch::kLong));
    total += metric_sums(LossKind::cross_entropy, {}, {});
    EXPECT_DOUBLE_EQ(metric_value("accuracy", total), 0.75);
    EXPECT_EQ(total.samples(), 4.0);
    EXPECT_TRUE(std::isnan(metric_value("loss", MetricSums{})));
}

TEST(Metrics, AreKnownByName) {
    EXPECT_EQ(metric_names(LossKind::cross_entropy, true).back(), "perplexity");
    EXPECT_EQ(metric_names(LossKind::mse, false).front(), "mse");
    EXPECT_TRUE(higher_is_better("accuracy"));
    EXPECT_FALSE(higher_is_better("loss"));
    EXPECT_EQ(parse_loss_kind("mse"), LossKind::mse);
    expect_error(ExitCode::usage, "did you mean 'accuracy'", [] { metric_value("acuracy", {}); });
    expect_error(ExitCode::usage, "cross-entropy", [] { parse_loss_kind("hinge"); });
}

}  // namespace
}  // namespace mastic::model
