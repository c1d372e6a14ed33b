// Losses and metrics as sums, so that ranks with uneven shares add them and divide once by the global count.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/model/network.hpp>

namespace mastic::model {

enum class LossKind { cross_entropy, mse };
const char* to_string(LossKind kind);
LossKind parse_loss_kind(std::string_view name);  // throws Error(usage)

// The sum over the samples of the batch, a float64 scalar; the caller divides by the samples of the whole step.
// cross_entropy: outputs (B, classes) and targets (B), or (B, T, V) and (B, T), where one sample counts as the mean over
// its T positions. mse: outputs (B, ...) and targets with as many values; one sample counts as the mean over its values.
// The arithmetic is float32 for half types; each sample's value is added in float64. An empty batch gives 0 with zero
// gradients. Error(data) for targets of another shape, or classes out of range. That check needs the targets in host memory:
// those on a device are to be checked on their way there.
torch::Tensor loss_sum(LossKind kind, const torch::Tensor& outputs, const torch::Tensor& targets);

// Error(data) for a class that the model does not have. `targets` in host memory.
void check_classes(const torch::Tensor& targets, std::int64_t classes);

// The loss of a training step, and the outputs it comes from. An empty batch never reaches the network (its batch
// normalisation would learn NaN): the loss is 0 and every parameter still gets a gradient of zeros, so that a rank
// without samples takes part in each reduction.
struct TrainingLoss {
    torch::Tensor sum;      // scalar, connected to every parameter
    torch::Tensor outputs;  // detached; undefined for an empty batch
};
TrainingLoss training_loss(Network& network, LossKind kind, const torch::Tensor& inputs,
                           const torch::Tensor& targets);

// What metrics are computed from; ranks add them element by element.
struct MetricSums {
    std::array<double, 4> values{};  // loss sum, right predictions, predictions, samples

    double loss() const { return values[0]; }
    double samples() const { return values[3]; }
    MetricSums& operator+=(const MetricSums& other);
};

MetricSums metric_sums(LossKind kind, const torch::Tensor& outputs, const torch::Tensor& targets);

// The metrics that this kind of training has, the first being what keep-best follows by default.
// cross_entropy: accuracy, loss, for tokens also perplexity; mse: mse, loss.
std::vector<std::string> metric_names(LossKind kind, bool tokens);
// Throws Error(usage) for an unknown name, with the nearest one. NaN if no sample was counted.
double metric_value(std::string_view name, const MetricSums& sums);
bool higher_is_better(std::string_view name);

}  // namespace mastic::model
