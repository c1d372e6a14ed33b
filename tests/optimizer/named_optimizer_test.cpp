#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <mastic/model/loss.hpp>
#include <mastic/model/registry.hpp>
#include <mastic/optimizer/optimizer_factory.hpp>

#include "support/expect_error.hpp"

namespace mastic::optimizer {
namespace {

using test::expect_error;

// A small network and its batch, the same for each instance of the same seed.
struct Training {
    explicit Training(int seed = 1) {
        torch::manual_seed(seed);
        network = model::create_network({.name = "mlp", .hidden = {16, 8}}, {{6}, 4});
        torch::manual_seed(99);
        inputs = torch::randn({12, 6});
        targets = torch::randint(4, {12}, torch::kLong);
    }
    void backward() {
        network->zero_grad();
        (model::training_loss(*network, model::LossKind::cross_entropy, inputs, targets).sum / 12).backward();
    }
    void steps(NamedOptimizer& optimizer, int count) {
        for (int i = 0; i < count; ++i) {
            backward();
            optimizer.set_learning_rate(0.1 / (1 + optimizer.steps()));  // a schedule
            optimizer.step();
        }
    }
    std::unique_ptr<NamedOptimizer> optimizer(const OptimizerOptions& options) const {
        return create_optimizer(options, model::trainable_parameters(*network));
    }

    std::shared_ptr<model::Network> network;
    torch::Tensor inputs, targets;
};

void expect_same_weights(const model::Network& a, const model::Network& b) {
    const auto ours = model::trainable_parameters(a), theirs = model::trainable_parameters(b);
    for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_TRUE(ours[i].second.equal(theirs[i].second)) << ours[i].first;
    }
}

OptimizerState copy(const OptimizerState& state) {
    OptimizerState result{.tensors = {}, .steps = state.steps};
    for (const auto& [name, tensor] : state.tensors) {
        result.tensors.emplace_back(name, tensor.clone());
    }
    return result;
}

const OptimizerOptions all_options[] = {
    {.name = "sgd", .momentum = 0.0},
    {.name = "sgd", .momentum = 0.9},
    {.name = "sgd", .weight_decay = 0.01, .momentum = 0.9, .nesterov = true},
    {.name = "adam", .weight_decay = 0.01},
    {.name = "adamw", .weight_decay = 0.01},
};

class Continuation : public testing::TestWithParam<OptimizerOptions> {};
INSTANTIATE_TEST_SUITE_P(AllOptimizers, Continuation, testing::ValuesIn(all_options));

TEST_P(Continuation, InAFreshProcessIsBitIdentical) {
    Training whole, first;
    const auto uninterrupted = whole.optimizer(GetParam());
    whole.steps(*uninterrupted, 10);

    const auto before = first.optimizer(GetParam());
    first.steps(*before, 5);
    Training second(2);
    const auto after = second.optimizer(GetParam());
    {
        torch::NoGradGuard no_grad;
        for (std::size_t i = 0; i < first.network->parameters().size(); ++i) {
            second.network->parameters()[i].copy_(first.network->parameters()[i]);
        }
    }
    after->load_state(copy(before->state()));
    second.steps(*after, 5);
    EXPECT_EQ(after->steps(), 10);
    expect_same_weights(*second.network, *whole.network);
}

TEST_P(Continuation, OfARunningOptimizerForgetsWhatItHad) {
    Training training;
    const auto optimizer = training.optimizer(GetParam());
    training.steps(*optimizer, 3);
    const auto stored = copy(optimizer->state());
    const auto live = optimizer->state();
    training.steps(*optimizer, 4);
    optimizer->load_state(stored);
    EXPECT_EQ(optimizer->steps(), 3);
    for (std::size_t i = 0; i < stored.tensors.size(); ++i) {
        EXPECT_TRUE(live.tensors[i].second.equal(stored.tensors[i].second)) << stored.tensors[i].first;
    }
}

TEST(NamedOptimizer, LeavesGradientsAsTheyAre) {
    for (const char* name : {"sgd", "adam", "adamw"}) {
        Training training;
        const auto optimizer =
            training.optimizer({.name = name, .weight_decay = 0.01, .momentum = 0.9, .nesterov = true});
        training.backward();
        std::vector<torch::Tensor> before;
        for (const torch::Tensor& parameter : training.network->parameters()) {
            before.push_back(parameter.grad().clone());
        }
        optimizer->step();
        for (std::size_t i = 0; i < before.size(); ++i) {
            EXPECT_TRUE(training.network->parameters()[i].grad().equal(before[i])) << name;
        }
    }
}

TEST(NamedOptimizer, DoesWhatTorchSgdDoes) {
    for (const bool nesterov : {false, true}) {
        Training ours, theirs;
        const auto optimizer =
            ours.optimizer({.name = "sgd", .weight_decay = 0.01, .momentum = 0.9, .nesterov = nesterov});
        torch::optim::SGD peer(
            theirs.network->parameters(),
            torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01).nesterov(nesterov));
        optimizer->set_learning_rate(0.1);
        for (int i = 0; i < 6; ++i) {
            ours.backward();
            optimizer->step();
            theirs.backward();
            peer.step();
        }
        expect_same_weights(*ours.network, *theirs.network);
    }
}

template <class Peer, class PeerOptions>
void expect_parity(const std::string& name) {
    Training ours, theirs;
    ours.network->to(torch::kDouble);
    theirs.network->to(torch::kDouble);
    ours.inputs = theirs.inputs = ours.inputs.to(torch::kDouble);
    const auto optimizer =
        ours.optimizer({.name = name, .learning_rate = 0.01, .weight_decay = 0.1, .beta1 = 0.8});
    Peer peer(theirs.network->parameters(), PeerOptions(0.01).weight_decay(0.1).betas({0.8, 0.999}));
    for (int i = 0; i < 6; ++i) {
        ours.backward();
        optimizer->step();
        theirs.backward();
        peer.step();
    }
    for (std::size_t i = 0; i < ours.network->parameters().size(); ++i) {
        EXPECT_TRUE(
            torch::allclose(ours.network->parameters()[i], theirs.network->parameters()[i], 1e-12, 1e-14));
    }
}

TEST(NamedOptimizer, DoesWhatTorchAdamDoes) {
    expect_parity<torch::optim::Adam, torch::optim::AdamOptions>("adam");
}
TEST(NamedOptimizer, DoesWhatTorchAdamWDoes) {
    expect_parity<torch::optim::AdamW, torch::optim::AdamWOptions>("adamw");
}

TEST(NamedOptimizer, NamesItsStateAfterTheParameters) {
    const Training training;
    const auto names = [&](const OptimizerOptions& options) {
        std::vector<std::string> result;
        for (const auto& tensor : training.optimizer(options)->state().tensors) {
            result.push_back(tensor.first);
        }
        return result;
    };
    EXPECT_THAT(names({.name = "sgd", .momentum = 0.0}), testing::IsEmpty());
    const auto sgd = names({.name = "sgd"});
    ASSERT_EQ(sgd.size(), 6u);
    EXPECT_EQ(sgd[0], "momentum_buffer/layers.0.weight");
    const auto adam = names({.name = "adamw"});
    ASSERT_EQ(adam.size(), 12u);
    EXPECT_EQ(adam[1], "exp_avg/layers.0.bias");
    EXPECT_EQ(adam[11], "exp_avg_sq/layers.2.bias");
}

TEST(NamedOptimizer, LeavesAParameterWithoutGradientAlone) {
    auto frozen = torch::ones({2}), moving = torch::ones({2}).requires_grad_();
    moving.mutable_grad() = torch::ones({2});
    const auto optimizer =
        create_optimizer({.name = "sgd", .learning_rate = 0.5}, {{"f", frozen}, {"m", moving}});
    optimizer->step();
    EXPECT_TRUE(frozen.equal(torch::ones({2})));
    EXPECT_TRUE(moving.equal(torch::full({2}, 0.5)));
}

TEST(NamedOptimizer, RefusesStateOfAnotherTraining) {
    Training training;
    const auto optimizer = training.optimizer({.name = "adamw"});
    training.steps(*optimizer, 1);
    const auto good = copy(optimizer->state());
    const auto refuse = [&](OptimizerState state, const char* part) {
        expect_error(ExitCode::checkpoint, part, [&] { optimizer->load_state(state); });
    };
    auto state = good;
    state.tensors[0].second = torch::zeros({1});
    refuse(state, "of another shape: exp_avg/layers.0.weight");
    state.tensors.erase(state.tensors.begin());
    refuse(state, "missing: exp_avg/layers.0.weight");
    state = good;
    state.tensors.emplace_back("momentum_buffer/x", torch::zeros({1}));
    refuse(state, "13 tensors instead of 12");
    EXPECT_EQ(optimizer->steps(), 1);
    EXPECT_TRUE(optimizer->state().tensors[0].second.equal(good.tensors[0].second));
}

TEST(CreateOptimizer, RefusesWrongOptions) {
    const struct {
        OptimizerOptions options;
        const char* part;
    } cases[] = {
        {{.name = "adamv"}, "did you mean 'adamw'"},
        {{.name = "newton"}, "known optimizers: sgd, adamw, adam"},
        {{.learning_rate = -1}, "optimizer.learning_rate"},
        {{.weight_decay = -1}, "optimizer.weight_decay"},
        {{.momentum = 1.0}, "optimizer.momentum"},
        {{.momentum = 0.0, .nesterov = true}, "nesterov needs a momentum"},
        {{.beta1 = 1.0}, "optimizer.beta1"},
        {{.beta2 = -0.1}, "optimizer.beta2"},
        {{.epsilon = 0.0}, "optimizer.epsilon"},
    };
    for (const auto& wrong : cases) {
        expect_error(ExitCode::usage, wrong.part, [&] { create_optimizer(wrong.options, {}); });
    }
}

}  // namespace
}  // namespace mastic::optimizer
