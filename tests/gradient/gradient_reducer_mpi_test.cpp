// Gradients of several ranks against the gradient of one process that sees all samples.
#include <torch/torch.h>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <mastic/core/error.hpp>
#include <mastic/gradient/gradient_reducer.hpp>

#include "comm/mpi/session_fixture.hpp"

namespace mastic::gradient {
namespace {

constexpr int64_t samples = 12;

torch::nn::Sequential make_network() {
    torch::manual_seed(1);
    torch::nn::Sequential network(torch::nn::Linear(6, 33), torch::nn::Tanh(), torch::nn::Linear(33, 5));
    network->to(torch::kFloat64);
    return network;
}

model::NamedTensors parameters_of(torch::nn::Module& network) {
    model::NamedTensors named;
    for (const auto& item : network.named_parameters()) {
        named.emplace_back(item.key(), item.value());
    }
    return named;
}

torch::Tensor loss_of(torch::nn::Sequential& network, int64_t begin, int64_t end) {
    torch::manual_seed(2);
    const auto inputs = torch::randn({samples, 6}, torch::kFloat64).slice(0, begin, end);
    return network->forward(inputs).square().sum() / samples;
}

std::vector<torch::Tensor> serial_gradients() {
    auto network = make_network();
    loss_of(network, 0, samples).backward();
    std::vector<torch::Tensor> gradients;
    for (const auto& parameter : network->parameters()) {
        gradients.push_back(parameter.grad().clone());
    }
    return gradients;
}

void expect_equal_to_serial(torch::nn::Sequential& network) {
    const auto expected = serial_gradients();
    const auto parameters = network->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        EXPECT_TRUE(torch::allclose(parameters[i].grad(), expected[i], 1e-12, 1e-14)) << "parameter " << i;
    }
}

struct Variant {
    std::size_t capacity;
    bool overlap;
};

class Reducer : public testing::TestWithParam<Variant> {
  protected:
    std::unique_ptr<comm::Group> owned = test::session().make_group({});
    comm::Group& group = *owned;
    Trace trace;
    ReducerOptions options{{Bytes{GetParam().capacity}, Bytes{GetParam().capacity}, 64}, GetParam().overlap};
    // Unequal shares: rank 0 takes what is left over; with 4 ranks the last has none.
    int64_t share = group.size() == 4 ? 4 : samples / group.size();
    int64_t begin = std::min(samples, group.rank() * share);
    int64_t end = std::min(samples, begin + share);
};

TEST_P(Reducer, SumsToTheGradientOfOneProcessOverSeveralSteps) {
    auto network = make_network();
    GradientReducer reducer(parameters_of(*network), group, options, trace);
    for (int step = 0; step < 3; ++step) {
        reducer.begin();
        if (begin < end) {
            reducer.expect_last_backward();
            loss_of(network, begin, end).backward();
        }
        reducer.finish();
        expect_equal_to_serial(network);
    }
}

TEST_P(Reducer, AccumulatesMicroBatchesBeforeReducing) {
    auto network = make_network();
    GradientReducer reducer(parameters_of(*network), group, options, trace);
    reducer.begin();
    for (int64_t i = begin; i < end; ++i) {
        if (i + 1 == end) {
            reducer.expect_last_backward();
        }
        loss_of(network, i, i + 1).backward();
    }
    reducer.finish();
    expect_equal_to_serial(network);
}

TEST_P(Reducer, CountsUnusedParametersAsZero) {
    auto network = make_network();
    auto unused = torch::ones({7}, torch::TensorOptions(torch::kFloat64).requires_grad(true));
    auto named = parameters_of(*network);
    named.emplace_back("unused", unused);
    GradientReducer reducer(named, group, options, trace);
    for (int step = 0; step < 2; ++step) {
        reducer.begin();
        reducer.expect_last_backward();
        if (begin < end) {
            loss_of(network, begin, end).backward();
        }
        reducer.finish();
        expect_equal_to_serial(network);
        EXPECT_EQ(unused.grad().abs().sum().item<double>(), 0.0);
    }
}

// Of an operator of torch that refuses, say. The reductions under way end after the reducer.
TEST_P(Reducer, AnExceptionInTheMiddleOfAStepLeavesNoReductionWithoutItsBuckets) {
    for (int round = 0; round < 20; ++round) {
        auto network = make_network();
        {
            GradientReducer reducer(parameters_of(*network), group, options, trace);
            reducer.begin();
            reducer.expect_last_backward();
            if (group.rank() != 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
            loss_of(network, 0, samples).backward();
        }
        torch::Tensor in_its_place = torch::full({4096}, 1.0, torch::kFloat64);
        group.barrier();
        EXPECT_EQ(in_its_place.sum().item<double>(), 4096.0);
    }
}

INSTANTIATE_TEST_SUITE_P(Buckets, Reducer,
                         testing::Values(Variant{64, true}, Variant{1 << 20, true}, Variant{600, false}));

TEST(ReducerAgreement, RanksWithOtherModelsAreToldSo) {
    const auto owned = test::session().make_group({});
    comm::Group& group = *owned;
    if (group.size() == 1) {
        GTEST_SKIP() << "needs two ranks to disagree";
    }
    torch::nn::Linear network(4, group.rank() == 1 ? 6 : 5);
    Trace trace;
    try {
        GradientReducer reducer(parameters_of(*network), group, {}, trace);
        FAIL() << "the mismatch went unnoticed";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::collective);
        EXPECT_NE(error.full_message().find("rank 1"), std::string::npos) << error.full_message();
    }
}

}  // namespace
}  // namespace mastic::gradient
