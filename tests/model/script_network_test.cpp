#include <sstream>

#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <mastic/model/export.hpp>
#include <mastic/model/initial_weights.hpp>
#include <mastic/model/loss.hpp>
#include <mastic/model/registry.hpp>
#include <mastic/model/script_network.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::model {
namespace {

using test::expect_error;

struct ExportCase {
    std::string name;
    ModelOptions options;
    InputSpec input;
};

class Export : public testing::TestWithParam<ExportCase> {
  protected:
    torch::Tensor batch(std::int64_t count) const {
        const InputSpec& input = GetParam().input;
        std::vector<std::int64_t> shape = {count};
        shape.insert(shape.end(), input.shape.begin(), input.shape.end());
        return input.tokens ? torch::randint(input.outputs, shape, torch::kLong) : torch::randn(shape);
    }
    torch::Tensor targets(std::int64_t count) const {
        const InputSpec& input = GetParam().input;
        return input.tokens ? batch(count) : torch::randint(input.outputs, {count}, torch::kLong);
    }
};

INSTANTIATE_TEST_SUITE_P(
    AllModels, Export,
    testing::Values(ExportCase{"mlp", {.name = "mlp", .hidden = {8}}, {{3, 4}, 5}},
                    ExportCase{"lenet", {.name = "lenet"}, {{1, 12, 12}, 10}},
                    ExportCase{"resnet18", {.name = "resnet18", .width = 4}, {{3, 16, 16}, 10}},
                    ExportCase{"vgg", {.name = "vgg-like", .width = 16}, {{3, 16, 16}, 10}},
                    ExportCase{"transformer",
                               {.name = "transformer", .width = 16, .depth = 2, .heads = 4},
                               {{10}, 20, true}}),
    [](const auto& test_case) { return test_case.param.name; });

TEST_P(Export, LoadedAgainHasTheSameNamesAndAnswers) {
    torch::manual_seed(1);
    const auto network = create_network(GetParam().options, GetParam().input);
    network->forward(batch(6));  // running statistics that are not the initial ones
    const test::TempDir directory;
    export_torchscript(*network, GetParam().input, directory / "m.pt");
    EXPECT_TRUE(network->is_training());

    ScriptNetwork script(directory / "m.pt");
    const auto expected = named_weights(*network), loaded = named_weights(script);
    ASSERT_EQ(loaded.size(), expected.size());
    for (const auto& [name, tensor] : expected) {
        const auto found = std::find_if(loaded.begin(), loaded.end(),
                                        [&](const auto& entry) { return entry.first == name; });
        ASSERT_NE(found, loaded.end()) << name;
        EXPECT_TRUE(found->second.equal(tensor)) << name;
    }
    network->eval();
    script.eval();
    torch::NoGradGuard no_grad;
    for (const std::int64_t count : {1, 7}) {
        const auto inputs = batch(count);
        EXPECT_TRUE(torch::allclose(script.forward(inputs), network->forward(inputs), 1e-4, 1e-5)) << count;
    }
}

TEST_P(Export, LoadedAgainTrainsAsTheOriginal) {
    torch::manual_seed(1);
    const auto network = create_network(GetParam().options, GetParam().input);
    const test::TempDir directory;
    export_torchscript(*network, GetParam().input, directory / "m.pt");
    ScriptNetwork script(directory / "m.pt");
    const auto inputs = batch(6), wanted = targets(6);
    for (Network* each : {network.get(), static_cast<Network*>(&script)}) {
        training_loss(*each, LossKind::cross_entropy, inputs, wanted).sum.backward();
    }
    const auto expected = trainable_parameters(*network), loaded = trainable_parameters(script);
    ASSERT_EQ(loaded.size(), expected.size());
    for (const auto& [name, parameter] : loaded) {
        const auto same = std::find_if(expected.begin(), expected.end(),
                                       [&](const auto& entry) { return entry.first == name; });
        const double scale = same->second.grad().abs().max().item<double>();
        EXPECT_LE((parameter.grad() - same->second.grad()).abs().max().item<double>(), 1e-3 * scale + 1e-5)
            << name;
    }
}

TEST(ExportDropout, FollowsTheModeOfTheLoadedFile) {
    torch::manual_seed(1);
    const InputSpec input{{16}, 4};
    const auto network = create_network({.name = "mlp", .hidden = {64}, .dropout = 0.5}, input);
    const test::TempDir directory;
    export_torchscript(*network, input, directory / "m.pt");
    ScriptNetwork script(directory / "m.pt");
    const auto inputs = torch::randn({3, 16});
    EXPECT_FALSE(script.forward(inputs).equal(script.forward(inputs)));
    script.eval();
    EXPECT_TRUE(script.forward(inputs).equal(script.forward(inputs)));
}

TEST(Export, DoesNotMoveTheRandomNumbersOfATraining) {
    const InputSpec input{{4}, 2};
    const auto network = create_network({.name = "mlp", .hidden = {4}}, input);
    const test::TempDir directory;
    torch::manual_seed(5);
    export_torchscript(*network, input, directory / "m.pt");
    const auto drawn = torch::randn({2});
    torch::manual_seed(5);
    EXPECT_TRUE(drawn.equal(torch::randn({2})));
}

// A script with what exported files lack: a name with two dots, a buffer, the same tensor twice.
std::string user_script() {
    torch::jit::Module inner("Inner"), module("Outer");
    inner.register_parameter("weight", torch::ones({2, 3}).requires_grad_(), false);
    inner.register_buffer("shift", torch::ones({2}));
    module.register_module("inner", inner);
    module.register_parameter("tied", inner.attr("weight").toTensor(), false);
    module.define(R"(
      def forward(self, x):
          return torch.matmul(x, self.inner.weight.t()) + self.inner.shift + 0.0 * self.tied.sum()
    )");
    std::ostringstream stream;
    module.save(stream);
    return stream.str();
}

TEST(ScriptNetwork, SharesItsTensorsWithTheScript) {
    const test::TempDir directory;
    ScriptNetwork network(directory.write("user.pt", user_script()));
    ASSERT_EQ(trainable_parameters(network).size(), 1u);
    EXPECT_EQ(network.named_buffers()[0].key(), "inner.shift");
    const auto inputs = torch::ones({1, 3});
    EXPECT_EQ(network.forward(inputs)[0][0].item<float>(), 4.0f);
    {
        torch::NoGradGuard no_grad;
        network.parameters()[0].fill_(2.0f);
    }
    EXPECT_EQ(network.forward(inputs)[0][0].item<float>(), 7.0f);

    export_torchscript(network, {{3}, 2}, directory / "again.pt");
    EXPECT_EQ(ScriptNetwork(directory / "again.pt").forward(inputs)[0][0].item<float>(), 7.0f);
}

TEST(ScriptNetwork, FollowsAChangeOfType) {
    const test::TempDir directory;
    ScriptNetwork network(directory.write("user.pt", user_script()));
    network.to(torch::kDouble);
    EXPECT_EQ(network.forward(torch::ones({1, 3}, torch::kDouble)).scalar_type(), torch::kDouble);
}

TEST(ScriptNetwork, RefusesWhatIsNotATorchScriptNetwork) {
    const test::TempDir directory;
    expect_error(ExitCode::data, "is not a TorchScript file",
                 [&] { ScriptNetwork network(directory.write("text", "hello")); });
    expect_error(ExitCode::data, "is not a TorchScript file",
                 [&] { ScriptNetwork network(directory / "absent"); });
    const std::string whole = user_script();
    expect_error(ExitCode::data, "is not a TorchScript file",
                 [&] { ScriptNetwork network(directory.write("cut", whole.substr(0, whole.size() / 2))); });
    torch::jit::Module empty("Empty");
    empty.save((directory / "empty.pt").string());
    expect_error(ExitCode::data, "no method forward", [&] { ScriptNetwork network(directory / "empty.pt"); });
    ScriptNetwork network(directory.write("user.pt", whole));
    expect_error(ExitCode::data, "fails on this input", [&] { network.forward(torch::ones({1, 4})); });
}

TEST(ScriptNetwork, IsWhatModelFileMeans) {
    const test::TempDir directory;
    const auto path = directory.write("user.pt", user_script());
    EXPECT_EQ(parameter_count(*create_network({.file = path}, {{3}, 2})), 6);
}

}  // namespace
}  // namespace mastic::model
