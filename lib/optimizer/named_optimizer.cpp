#include <mastic/optimizer/named_optimizer.hpp>

#include <map>

#include <torch/torch.h>

#include <mastic/core/error.hpp>

namespace mastic::optimizer {

NamedOptimizer::NamedOptimizer(model::NamedTensors parameters, double learning_rate)
    : parameters_(std::move(parameters)), learning_rate_(learning_rate) {}

void NamedOptimizer::step() {
    torch::NoGradGuard no_grad;
    ++steps_;
    begin_step();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        torch::Tensor& parameter = parameters_[i].second;
        if (auto gradient = parameter.grad(); gradient.defined()) {
            update(i, parameter, gradient);
        }
    }
}

NamedOptimizer::Slot& NamedOptimizer::add_slot(const char* name) {
    auto slot = std::make_unique<Slot>();
    for (const auto& parameter : parameters_) {
        slot->push_back(torch::zeros_like(parameter.second).requires_grad_(false));
    }
    return *slots_.emplace_back(name, std::move(slot)).second;
}

OptimizerState NamedOptimizer::state() const {
    OptimizerState state{.tensors = {}, .steps = steps_};
    for (const auto& [name, slot] : slots_) {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            state.tensors.emplace_back(std::string(name) + "/" + parameters_[i].first, (*slot)[i]);
        }
    }
    return state;
}

void NamedOptimizer::load_state(const OptimizerState& stored) {
    std::map<std::string, torch::Tensor> by_name(stored.tensors.begin(), stored.tensors.end());
    const OptimizerState own = state();
    std::string problems;
    for (const auto& [name, tensor] : own.tensors) {
        const auto found = by_name.find(name);
        if (found == by_name.end()) {
            problems += "\n  missing: " + name;
        } else if (found->second.sizes() != tensor.sizes()) {
            problems += "\n  of another shape: " + name;
        }
    }
    if (by_name.size() > own.tensors.size() || (problems.empty() && by_name.size() != own.tensors.size())) {
        problems += "\n  it holds " + std::to_string(by_name.size()) + " tensors instead of " +
                    std::to_string(own.tensors.size());
    }
    if (!problems.empty()) {
        throw Error(ExitCode::checkpoint,
                    "the stored optimizer state does not fit this optimizer and model:" + problems,
                    "resume with the optimizer and model that the checkpoint was written with");
    }
    torch::NoGradGuard no_grad;
    for (const auto& [name, tensor] : own.tensors) {
        // A shallow copy of the handle: the data goes into the optimizer's own tensor.
        torch::Tensor(tensor).copy_(by_name.at(name));
    }
    steps_ = stored.steps;
}

}  // namespace mastic::optimizer
