#include <mastic/model/loss.hpp>

#include <cmath>
#include <limits>

#include <torch/torch.h>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>
#include <mastic/model/networks.hpp>

namespace mastic::model {

namespace {

[[noreturn]] void throw_misfit(const torch::Tensor& outputs, const torch::Tensor& targets) {
    throw Error(ExitCode::data,
                "the targets " + shape_text(targets.sizes()) + " do not fit the model's outputs " +
                    shape_text(outputs.sizes()),
                "check the targets of the data set and train.loss");
}

void require_classes(const torch::Tensor& outputs, const torch::Tensor& targets) {
    if (outputs.dim() < 2 || outputs.sizes().slice(0, outputs.dim() - 1) != targets.sizes()) {
        throw_misfit(outputs, targets);
    }
    if (targets.device().is_cpu()) {
        check_classes(targets, outputs.size(-1));
    }
}

torch::Tensor in_full_precision(const torch::Tensor& outputs) {
    return outputs.scalar_type() == torch::kDouble ? outputs : outputs.to(torch::kFloat);
}

// The mean of each sample's values, added in float64: (B, ...) -> ()
torch::Tensor sum_of_means(const torch::Tensor& values) {
    const auto sum = values.sum(torch::kDouble);
    const double per_sample = values.numel() > 0 ? static_cast<double>(values.numel() / values.size(0)) : 1.0;
    return per_sample == 1.0 ? sum : sum / per_sample;
}

}  // namespace

void check_classes(const torch::Tensor& targets, std::int64_t classes) {
    if (targets.numel() == 0) {
        return;
    }
    const auto [low, high] = torch::aminmax(targets);
    const auto lowest = low.item<std::int64_t>(), highest = high.item<std::int64_t>();
    if (lowest < 0 || highest >= classes) {
        throw Error(ExitCode::data,
                    "a target is class " + std::to_string(lowest < 0 ? lowest : highest) + "; the model has classes 0 to " +
                        std::to_string(classes - 1),
                    "check the labels of the data set");
    }
}

const char* to_string(LossKind kind) {
    return kind == LossKind::cross_entropy ? "cross-entropy" : "mse";
}

LossKind parse_loss_kind(std::string_view name) {
    for (const LossKind kind : {LossKind::cross_entropy, LossKind::mse}) {
        if (name == to_string(kind)) {
            return kind;
        }
    }
    throw Error(ExitCode::usage, "there is no loss '" + std::string(name) + "'", "use cross-entropy or mse");
}

torch::Tensor loss_sum(LossKind kind, const torch::Tensor& outputs, const torch::Tensor& targets) {
    const auto precise = in_full_precision(outputs);
    if (kind == LossKind::cross_entropy) {
        require_classes(outputs, targets);
        const auto losses = torch::cross_entropy_loss(precise.reshape({-1, precise.size(-1)}),
                                                      targets.reshape({-1}), {}, at::Reduction::None);
        return sum_of_means(losses.reshape(targets.sizes()));
    }
    if (outputs.numel() != targets.numel() || outputs.dim() < 1 || targets.dim() < 1 ||
        outputs.size(0) != targets.size(0)) {
        throw_misfit(outputs, targets);
    }
    const auto wanted = targets.to(precise.scalar_type()).reshape(precise.sizes());
    return sum_of_means(torch::mse_loss(precise, wanted, at::Reduction::None));
}

TrainingLoss training_loss(Network& network, LossKind kind, const torch::Tensor& inputs,
                           const torch::Tensor& targets) {
    if (inputs.size(0) == 0) {
        auto zero = torch::zeros({}, torch::TensorOptions(torch::kDouble).device(inputs.device()));
        for (const torch::Tensor& parameter : network.parameters()) {
            // The sum over no element: 0 whatever the parameter holds, NaN included, with a gradient of zeros.
            zero = zero + parameter.reshape({-1}).narrow(0, 0, 0).sum(torch::kDouble);
        }
        return {zero, {}};
    }
    const auto outputs = network.forward(inputs);
    return {loss_sum(kind, outputs, targets), outputs.detach()};
}

MetricSums& MetricSums::operator+=(const MetricSums& other) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] += other.values[i];
    }
    return *this;
}

MetricSums metric_sums(LossKind kind, const torch::Tensor& outputs, const torch::Tensor& targets) {
    if (!outputs.defined() || outputs.size(0) == 0) {
        return {};
    }
    torch::NoGradGuard no_grad;
    MetricSums sums;
    sums.values[0] = loss_sum(kind, outputs, targets).item<double>();
    sums.values[3] = static_cast<double>(outputs.size(0));
    if (kind == LossKind::cross_entropy) {
        sums.values[1] = static_cast<double>(outputs.argmax(-1).eq(targets).sum().item<std::int64_t>());
        sums.values[2] = static_cast<double>(targets.numel());
    }
    return sums;
}

std::vector<std::string> metric_names(LossKind kind, bool tokens) {
    if (kind == LossKind::mse) {
        return {"mse", "loss"};
    }
    return tokens ? std::vector<std::string>{"accuracy", "loss", "perplexity"}
                  : std::vector<std::string>{"accuracy", "loss"};
}

double metric_value(std::string_view name, const MetricSums& sums) {
    const auto [loss, right, predictions, samples] = sums.values;
    if (name == "accuracy") {
        return right / predictions;
    }
    if (name == "loss" || name == "mse") {
        return loss / samples;
    }
    if (name == "perplexity") {
        return std::exp(loss / samples);
    }
    const std::vector<std::string> names = {"accuracy", "loss", "mse", "perplexity"};
    const std::string nearest = nearest_word(name, names);
    throw Error(ExitCode::usage, "there is no metric '" + std::string(name) + "'",
                (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") +
                    std::string("known metrics: accuracy, loss, mse, perplexity"));
}

bool higher_is_better(std::string_view name) {
    return name == "accuracy";
}

}  // namespace mastic::model
