#include <mastic/model/registry.hpp>

#include <algorithm>
#include <map>

#include <torch/torch.h>

#include <mastic/core/error.hpp>
#include <mastic/model/initial_weights.hpp>
#include <mastic/model/model_catalog.hpp>
#include <mastic/model/networks.hpp>
#include <mastic/model/script_network.hpp>

namespace mastic::model {

namespace {

using Factory = std::shared_ptr<Network> (*)(const ModelOptions& options, const InputSpec& input);

// One for each of the catalog.
const std::map<std::string, Factory> factories = {{"mlp", create_mlp},
                                                  {"lenet", create_lenet},
                                                  {"resnet18", create_resnet18},
                                                  {"vgg-like", create_vgg},
                                                  {"transformer", create_transformer}};

std::shared_ptr<Network> create_without_weights(const ModelOptions& options, const InputSpec& input) {
    if (!options.file.empty()) {
        return std::make_shared<ScriptNetwork>(options.file);
    }
    require_known_model(options.name);
    return factories.at(options.name)(options, input);
}

}  // namespace

std::shared_ptr<Network> create_network(const ModelOptions& options, const InputSpec& input) {
    if (input.outputs < 1) {
        throw Error(ExitCode::usage,
                    "the data has no classes or target values, so a model has nothing to answer",
                    "check the targets of the data set");
    }
    auto network = create_without_weights(options, input);
    if (!options.init.empty()) {
        load_initial_weights(*network, options.init, options.init_strict);
    }
    return network;
}

torch::Device device_of(const Network& network) {
    const std::vector<torch::Tensor> parameters = network.parameters();
    return parameters.empty() ? torch::Device(torch::kCPU) : parameters.front().device();
}

NamedTensors trainable_parameters(const Network& network) {
    NamedTensors trainable;
    for (const auto& parameter : network.named_parameters()) {
        if (parameter.value().requires_grad()) {
            trainable.emplace_back(parameter.key(), parameter.value());
        }
    }
    return trainable;
}

std::int64_t parameter_count(const Network& network) {
    std::int64_t count = 0;
    for (const auto& parameter : trainable_parameters(network)) {
        count += parameter.second.numel();
    }
    return count;
}

void require_images(const std::string& model, const InputSpec& input, std::int64_t smallest) {
    const auto& shape = input.shape;
    if (!input.tokens && shape.size() == 3 && shape[0] >= 1 && std::min(shape[1], shape[2]) >= smallest) {
        return;
    }
    throw Error(ExitCode::usage,
                model + " needs images (channels, height, width) of at least " + std::to_string(smallest) +
                    "x" + std::to_string(smallest) + "; the data has " + (input.tokens ? "tokens " : "") +
                    shape_text(shape),
                input.tokens ? "use model.name = \"transformer\"" : "model.name = \"mlp\" takes any shape");
}

void require_probability(double dropout) {
    if (!(dropout >= 0.0 && dropout < 1.0)) {
        throw Error(ExitCode::usage,
                    "model.dropout must be at least 0 and below 1, not " + std::to_string(dropout));
    }
}

std::int64_t positive_or(std::int64_t value, std::int64_t fallback, const char* option) {
    if (value < 0) {
        throw Error(ExitCode::usage, std::string(option) + " must not be negative: " + std::to_string(value));
    }
    return value == 0 ? fallback : value;
}

std::string shape_text(torch::IntArrayRef shape) {
    std::string text;
    for (const std::int64_t extent : shape) {
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
    }
    return "(" + text + ")";
}

}  // namespace mastic::model
