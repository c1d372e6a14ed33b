// The optimizers that mastic knows by name.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <mastic/optimizer/named_optimizer.hpp>

namespace mastic::optimizer {

struct OptimizerOptions {
    std::string name = "sgd";
    double learning_rate = 0.01;
    double weight_decay = 0.0;  // sgd, adam: added to the gradient; adamw: taken off the weight (decoupled)
    double momentum = 0.9;      // sgd
    bool nesterov = false;      // sgd
    double beta1 = 0.9;         // adam, adamw
    double beta2 = 0.999;       // adam, adamw
    double epsilon = 1e-8;      // adam, adamw
};

struct OptimizerKind {
    std::string name;
    std::string description;
    std::unique_ptr<NamedOptimizer> (*create)(const OptimizerOptions& options,
                                              model::NamedTensors parameters);
};

std::span<const OptimizerKind> optimizer_kinds();

// Throws Error(usage) for an unknown name (with the nearest one) and for options out of range.
std::unique_ptr<NamedOptimizer> create_optimizer(const OptimizerOptions& options,
                                                 model::NamedTensors parameters);

}  // namespace mastic::optimizer
