// The factories behind the table of registry.hpp, and the checks that they share.
#pragma once

#include <memory>
#include <string>

#include <mastic/model/registry.hpp>

namespace mastic::model {

std::shared_ptr<Network> create_mlp(const ModelOptions& options, const InputSpec& input);
std::shared_ptr<Network> create_lenet(const ModelOptions& options, const InputSpec& input);
std::shared_ptr<Network> create_vgg(const ModelOptions& options, const InputSpec& input);
std::shared_ptr<Network> create_resnet18(const ModelOptions& options, const InputSpec& input);
std::shared_ptr<Network> create_transformer(const ModelOptions& options, const InputSpec& input);

// Error(usage) unless the samples are float images (C, H, W) with H and W at least `smallest`.
void require_images(const std::string& model, const InputSpec& input, std::int64_t smallest);
// Error(usage) unless 0 <= dropout < 1.
void require_probability(double dropout);
// `value`, or `fallback` if it is 0. Error(usage) naming `option` if it is negative.
std::int64_t positive_or(std::int64_t value, std::int64_t fallback, const char* option);
// "(1, 28, 28)"
std::string shape_text(torch::IntArrayRef shape);

}  // namespace mastic::model
