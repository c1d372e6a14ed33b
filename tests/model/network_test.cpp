#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <mastic/model/blocked_layout.hpp>
#include <mastic/model/loss.hpp>
#include <mastic/model/model_catalog.hpp>
#include <mastic/model/registry.hpp>

#include "support/expect_error.hpp"

namespace mastic::model {
namespace {

using test::expect_error;
using testing::ElementsAre;

const InputSpec gray = {.shape = {1, 28, 28}, .outputs = 10};
const InputSpec color = {.shape = {3, 32, 32}, .outputs = 10};
const InputSpec odd = {.shape = {3, 32, 31}, .outputs = 7};
const InputSpec text = {.shape = {128}, .outputs = 256, .tokens = true};

torch::Tensor random_batch(std::int64_t count, const InputSpec& input) {
    std::vector<std::int64_t> shape = {count};
    shape.insert(shape.end(), input.shape.begin(), input.shape.end());
    return input.tokens ? torch::randint(input.outputs, shape, torch::kLong) : torch::randn(shape);
}

std::vector<std::string> names(const NamedTensors& tensors) {
    std::vector<std::string> result;
    for (const auto& tensor : tensors) {
        result.push_back(tensor.first);
    }
    return result;
}

// Blocked layout off, until the end of the scope.
struct PlainLayoutScope {
    PlainLayoutScope() { at::globalContext().setUserEnabledMkldnn(false); }
    ~PlainLayoutScope() { at::globalContext().setUserEnabledMkldnn(true); }
};

struct SizeCase {
    std::string model;
    InputSpec input;
    std::int64_t parameters;
    std::size_t tensors;
    std::vector<std::int64_t> output_shape;  // for a batch of 2
};

class NetworkSize : public testing::TestWithParam<SizeCase> {};

TEST_P(NetworkSize, IsAsCountedByHandAndTheOutputHasItsShape) {
    const SizeCase& expected = GetParam();
    const auto network = create_network({.name = expected.model}, expected.input);
    EXPECT_EQ(parameter_count(*network), expected.parameters);
    EXPECT_EQ(trainable_parameters(*network).size(), expected.tensors);
    torch::NoGradGuard no_grad;
    network->eval();
    EXPECT_EQ(network->forward(random_batch(2, expected.input)).sizes().vec(), expected.output_shape);
}

INSTANTIATE_TEST_SUITE_P(AllModels, NetworkSize,
                         testing::Values(SizeCase{"mlp", gray, 235146, 6, {2, 10}},
                                         SizeCase{"lenet", gray, 1199882, 8, {2, 10}},
                                         SizeCase{"lenet", odd, 1511367, 8, {2, 7}},
                                         SizeCase{"resnet18", color, 11173962, 62, {2, 10}},
                                         SizeCase{"vgg-like", color, 34749002, 18, {2, 10}},
                                         SizeCase{"transformer", text, 3323136, 52, {2, 128, 256}}));

TEST(NetworkNames, AreThoseOfTheLayers) {
    EXPECT_THAT(names(trainable_parameters(*create_network({.name = "lenet"}, gray))),
                ElementsAre("conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc1.weight",
                            "fc1.bias", "fc2.weight", "fc2.bias"));
    EXPECT_THAT(names(trainable_parameters(*create_network({.name = "mlp", .hidden = {4}}, gray))),
                ElementsAre("layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"));
    const auto resnet = names(trainable_parameters(*create_network({.name = "resnet18", .width = 2}, color)));
    EXPECT_THAT(resnet,
                testing::IsSupersetOf({"conv1.weight", "bn1.bias", "layer1.0.conv1.weight",
                                       "layer2.0.downsample.0.weight", "layer4.1.bn2.weight", "fc.bias"}));
    const auto transformer =
        names(trainable_parameters(*create_network({.name = "transformer", .width = 16, .depth = 1}, text)));
    EXPECT_THAT(transformer,
                testing::IsSupersetOf({"position", "embedding.weight", "layers.0.self_attn.in_proj_weight",
                                       "layers.0.linear2.bias", "layers.0.norm1.weight", "output.bias"}));
}

class EveryModel : public testing::TestWithParam<std::string> {
  protected:
    InputSpec input() const {
        return GetParam() == "transformer" ? InputSpec{{12}, 30, true} : InputSpec{{3, 16, 16}, 5};
    }
    ModelOptions options() const {
        const bool wide = GetParam() == "transformer" || GetParam() == "vgg-like";
        return {.name = GetParam(), .width = wide ? 32 : 8, .depth = 2, .heads = 4};
    }
    torch::Tensor targets(std::int64_t count) const {
        return input().tokens ? torch::randint(30, {count, 12}, torch::kLong)
                              : torch::randint(5, {count}, torch::kLong);
    }
};

INSTANTIATE_TEST_SUITE_P(Names, EveryModel, testing::ValuesIn([] {
                             std::vector<std::string> kinds;
                             for (const ModelDescription& kind : model_catalog()) {
                                 kinds.push_back(kind.name);
                             }
                             return kinds;
                         }()),
                         [](const auto& test_case) {
                             return test_case.param == "vgg-like" ? "vgg_like" : test_case.param;
                         });

TEST_P(EveryModel, IsDecidedByTheSeed) {
    const auto weights = [&](int seed) {
        torch::manual_seed(seed);
        return trainable_parameters(*create_network(options(), input()))[0].second;
    };
    EXPECT_TRUE(weights(1).equal(weights(1)));
    EXPECT_FALSE(weights(1).equal(weights(2)));
}

TEST_P(EveryModel, GivesEveryParameterAGradient) {
    torch::manual_seed(1);
    const auto network = create_network(options(), input());
    training_loss(*network, LossKind::cross_entropy, random_batch(4, input()), targets(4)).sum.backward();
    for (const auto& [name, parameter] : trainable_parameters(*network)) {
        ASSERT_TRUE(parameter.grad().defined()) << name;
        EXPECT_TRUE(parameter.grad().isfinite().all().item<bool>()) << name;
        EXPECT_EQ(parameter.grad().layout(), torch::kStrided) << name;
    }
}

TEST_P(EveryModel, LearnsFromABatch) {
    torch::manual_seed(1);
    const auto network = create_network(options(), input());
    const auto inputs = random_batch(4, input()), wanted = targets(4);
    const double rate = GetParam() == "transformer" ? 0.05 : 0.01;
    double first = 0, last = 0;
    for (int step = 0; step < 60; ++step) {
        network->zero_grad();
        const auto loss = training_loss(*network, LossKind::cross_entropy, inputs, wanted).sum / 4;
        loss.backward();
        torch::NoGradGuard no_grad;
        for (const torch::Tensor& parameter : network->parameters()) {
            parameter.sub_(parameter.grad(), rate);
        }
        last = loss.item<double>();
        first = step == 0 ? last : first;
    }
    EXPECT_LT(last, 0.8 * first);
}

TEST_P(EveryModel, TakesAnEmptyBatchWithoutATrace) {
    torch::manual_seed(1);
    const auto network = create_network(options(), input());
    std::map<std::string, torch::Tensor> buffers;
    for (const auto& buffer : network->named_buffers()) {
        buffers[buffer.key()] = buffer.value().clone();
    }
    const auto loss = training_loss(*network, LossKind::cross_entropy, random_batch(0, input()), targets(0));
    EXPECT_EQ(loss.sum.item<double>(), 0.0);
    loss.sum.backward();
    for (const auto& [name, parameter] : trainable_parameters(*network)) {
        ASSERT_TRUE(parameter.grad().defined()) << name;
        EXPECT_TRUE(parameter.grad().equal(torch::zeros_like(parameter))) << name;
    }
    for (const auto& buffer : network->named_buffers()) {
        EXPECT_TRUE(buffer.value().equal(buffers[buffer.key()])) << buffer.key();
    }
}

TEST_P(EveryModel, WorksInDoublePrecision) {
    const auto network = create_network(options(), input());
    network->to(torch::kDouble);
    const auto batch = random_batch(2, input());
    const auto loss = training_loss(*network, LossKind::cross_entropy,
                                    input().tokens ? batch : batch.to(torch::kDouble), targets(2));
    EXPECT_EQ(loss.outputs.scalar_type(), torch::kDouble);
    loss.sum.backward();
    EXPECT_EQ(network->parameters()[0].grad().scalar_type(), torch::kDouble);
}

TEST_P(EveryModel, GivesTheSameGradientsInBlockedAndInPlainLayout) {
    torch::manual_seed(3);
    const auto network = create_network(options(), input());
    const auto inputs = random_batch(4, input()), wanted = targets(4);
    const auto gradients = [&] {
        network->zero_grad();
        training_loss(*network, LossKind::cross_entropy, inputs, wanted).sum.backward();
        std::vector<torch::Tensor> result;
        for (const torch::Tensor& parameter : network->parameters()) {
            result.push_back(parameter.grad().clone());
        }
        return result;
    };
    const auto blocked = gradients();
    const PlainLayoutScope plain_layout;
    const auto plain = gradients();
    const auto all = trainable_parameters(*network);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const double scale = plain[i].abs().max().item<double>();
        EXPECT_LE((blocked[i] - plain[i]).abs().max().item<double>(), 1e-3 * scale + 1e-5) << all[i].first;
    }
}

TEST(BlockedLayout, IsForFloatImagesOnly) {
    if (!at::hasMKLDNN()) {
        GTEST_SKIP() << "this libtorch has no oneDNN";
    }
    const auto images = torch::randn({2, 3, 8, 8});
    EXPECT_TRUE(to_blocked(images).is_mkldnn());
    EXPECT_TRUE(to_plain(to_blocked(images)).equal(images));
    EXPECT_FALSE(to_blocked(images.to(torch::kDouble)).is_mkldnn());
    EXPECT_FALSE(to_blocked(images.narrow(0, 0, 0)).is_mkldnn());
    const PlainLayoutScope plain_layout;
    EXPECT_FALSE(to_blocked(images).is_mkldnn());
}

TEST(Transformer, SeesOnlyThePast) {
    torch::manual_seed(1);
    const auto network =
        create_network({.name = "transformer", .width = 16, .depth = 2, .heads = 2}, {{8}, 20, true});
    network->eval();
    auto tokens = torch::randint(20, {1, 8}, torch::kLong);
    const auto before = network->forward(tokens);
    tokens[0][5] = (tokens[0][5] + 1) % 20;
    const auto after = network->forward(tokens);
    EXPECT_TRUE(before.narrow(1, 0, 5).equal(after.narrow(1, 0, 5)));
    EXPECT_FALSE(before.narrow(1, 5, 1).equal(after.narrow(1, 5, 1)));
    EXPECT_EQ(network->forward(tokens.narrow(1, 0, 3)).size(1), 3);
}

TEST(Dropout, IsOnInTrainingOnly) {
    torch::manual_seed(1);
    const auto network = create_network({.name = "mlp", .dropout = 0.5}, gray);
    const auto batch = random_batch(2, gray);
    EXPECT_FALSE(network->forward(batch).equal(network->forward(batch)));
    network->eval();
    EXPECT_TRUE(network->forward(batch).equal(network->forward(batch)));
}

TEST(CreateNetwork, RefusesWhatCannotWorkAndSaysWhatWould) {
    const struct {
        ModelOptions options;
        InputSpec input;
        std::string part;
    } cases[] = {
        {{.name = "resnet81"}, color, "did you mean 'resnet18'"},
        {{.name = "zzz"}, color, "known models: mlp, lenet, resnet18, vgg-like, transformer"},
        {{.name = "lenet"}, {{1, 28, 5}, 10}, "at least 6x6; the data has (1, 28, 5)"},
        {{.name = "lenet"}, {{784}, 10}, "takes any shape"},
        {{.name = "resnet18"}, {{3, 4, 4}, 10}, "at least 8x8"},
        {{.name = "lenet"}, text, "transformer"},
        {{.name = "mlp"}, text, "mlp needs numbers"},
        {{.name = "mlp", .hidden = {10, 0}}, gray, "model.hidden"},
        {{.name = "mlp", .dropout = 1.0}, gray, "model.dropout"},
        {{.name = "transformer"}, gray, "needs token sequences"},
        {{.name = "transformer", .width = 30}, text, "multiple of model.heads 8"},
        {{.name = "transformer", .depth = -1}, text, "model.depth"},
        {{.name = "lenet"}, {{1, 28, 28}, 0}, "no classes"},
    };
    for (const auto& wrong : cases) {
        expect_error(ExitCode::usage, wrong.part, [&] { create_network(wrong.options, wrong.input); });
    }
}

}  // namespace
}  // namespace mastic::model
