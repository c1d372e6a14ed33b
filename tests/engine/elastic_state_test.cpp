// The state of a member as another one comes to it: by a snapshot, then by the reduced gradients of single steps.
#include <mastic/engine/elastic_state.hpp>

#include <torch/torch.h>

#include <vector>

#include <gtest/gtest.h>

#include <mastic/model/registry.hpp>
#include <mastic/optimizer/optimizer_factory.hpp>

#include "support/expect_error.hpp"

namespace mastic::engine {
namespace {

const gradient::BucketOptions buckets{};

std::vector<std::byte> bytes_of(const elastic::Blob& blob) {
    std::vector<std::byte> bytes(blob.size());
    blob.read(0, bytes);
    return bytes;
}

struct Replica {
    explicit Replica(int seed) {
        torch::manual_seed(seed);
        state.network = model::create_network({.name = "mlp", .hidden = {8}}, {.shape = {4}, .outputs = 3});
        state.optimizer = optimizer::create_optimizer({.learning_rate = 0.1}, model::trainable_parameters(*state.network));
        shared = std::make_unique<ElasticState>(state, buckets, ArithmeticFacts{});
        shared->on_step_of_others([this](const AppliedStep& step) { heard.push_back(step); });
    }

    // As the trainer does it; gradients are all `value`.
    std::vector<std::byte> step(float value, const AppliedStep& facts) {
        const auto parameters = model::trainable_parameters(*state.network);
        const auto planned = gradient::plan_buckets_of(parameters, buckets);
        auto gradients = std::make_shared<gradient::FlatGradients>(
            parameters, planned, [](std::size_t bytes) { return std::shared_ptr<void>(std::make_unique<std::byte[]>(bytes)); });
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            torch::Tensor parameter = parameters[i].second;
            gradients->view(i).fill_(value);
            parameter.mutable_grad() = gradients->view(i);
        }
        state.optimizer->set_learning_rate(facts.learning_rate);
        state.optimizer->step();
        state.step += 1;
        state.samples += facts.samples;
        state.position.consumed += facts.samples;
        return bytes_of(shared->record(gradients, facts));
    }

    TrainState state;
    std::unique_ptr<ElasticState> shared;
    std::vector<AppliedStep> heard;
};

TEST(ElasticState, StepsOfOthersGiveTheirWeightsAndTheirHistory) {
    Replica old(1);
    old.step(0.5F, {16, 0.1, 2.5, 16, 1});
    Replica fresh(2);
    fresh.shared->load(1, bytes_of(old.shared->snapshot()));
    EXPECT_EQ(fresh.shared->fingerprint(), old.shared->fingerprint());
    fresh.shared->apply(2, old.step(-0.25F, {32, 0.05, 1.25, 32, 2}));
    fresh.shared->apply(3, old.step(1.0F, {32, 0.02, 1.0, 32, 3}));
    EXPECT_EQ(fresh.shared->fingerprint(), old.shared->fingerprint());
    EXPECT_EQ(fresh.state.samples, 16U + 32U + 32U);
    EXPECT_EQ(fresh.state.position, old.state.position);
    ASSERT_EQ(fresh.heard.size(), 2U);
    EXPECT_EQ(fresh.heard[0].loss, 1.25);
    EXPECT_EQ(fresh.heard[0].learning_rate, 0.05);
    EXPECT_EQ(fresh.heard[1].loss, 1.0);
    EXPECT_EQ(fresh.heard[1].samples, 32U);
    EXPECT_EQ(fresh.heard[1].global_batch, 32U);
    EXPECT_EQ(fresh.heard[1].world_size, 3);
    EXPECT_TRUE(old.heard.empty());
}

TEST(ElasticState, ADamagedOrWrongStepIsRefused) {
    Replica old(1);
    Replica other(1);
    const std::vector<std::byte> step = old.step(0.5F, {16, 0.1, 2.5, 16, 1});
    test::expect_error(ExitCode::collective, "", [&] { other.shared->apply(2, step); });
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{40}, step.size() - 1}) {
        test::expect_error(ExitCode::collective, "", [&] { other.shared->apply(1, std::span(step).first(size)); });
    }
    std::vector<std::byte> no_json = step;
    no_json[9] = std::byte{0};
    test::expect_error(ExitCode::collective, "", [&] { other.shared->apply(1, no_json); });
    EXPECT_TRUE(other.heard.empty());
}

}  // namespace
}  // namespace mastic::engine
