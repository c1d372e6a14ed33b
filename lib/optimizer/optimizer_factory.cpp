#include <mastic/optimizer/optimizer_factory.hpp>

#include <algorithm>
#include <cmath>

#include <torch/torch.h>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::optimizer {

namespace {

torch::Tensor with_decay(const torch::Tensor& gradient, const torch::Tensor& parameter, double decay) {
    return decay == 0.0 ? gradient : gradient.add(parameter, decay);
}

// Momentum as in torch.optim.SGD: b <- m b + g; w <- w - rate b (Nesterov: g + m b instead of b).
class Sgd : public NamedOptimizer {
  public:
    Sgd(const OptimizerOptions& options, model::NamedTensors parameters)
        : NamedOptimizer(std::move(parameters), options.learning_rate),
          options_(options),
          momentum_buffer_(options.momentum != 0.0 ? &add_slot("momentum_buffer") : nullptr) {}

  private:
    void update(std::size_t index, torch::Tensor& parameter, const torch::Tensor& reduced) override {
        const torch::Tensor gradient = with_decay(reduced, parameter, options_.weight_decay);
        if (momentum_buffer_ == nullptr) {
            parameter.add_(gradient, -learning_rate());
            return;
        }
        torch::Tensor& buffer = (*momentum_buffer_)[index];
        buffer.mul_(options_.momentum).add_(gradient);
        parameter.add_(options_.nesterov ? gradient.add(buffer, options_.momentum) : buffer, -learning_rate());
    }

    OptimizerOptions options_;
    Slot* momentum_buffer_;
};

// Kingma, Ba 2015; with decoupled weight decay Loshchilov, Hutter 2019.
class Adam : public NamedOptimizer {
  public:
    Adam(const OptimizerOptions& options, model::NamedTensors parameters, bool decoupled)
        : NamedOptimizer(std::move(parameters), options.learning_rate),
          options_(options),
          decoupled_(decoupled),
          exp_avg_(add_slot("exp_avg")),
          exp_avg_sq_(add_slot("exp_avg_sq")) {}

  private:
    void begin_step() override {
        const auto step = static_cast<double>(steps());
        step_size_ = learning_rate() / (1.0 - std::pow(options_.beta1, step));
        root_of_correction_ = std::sqrt(1.0 - std::pow(options_.beta2, step));
    }

    void update(std::size_t index, torch::Tensor& parameter, const torch::Tensor& reduced) override {
        if (options_.weight_decay != 0.0 && decoupled_) {
            parameter.mul_(1.0 - learning_rate() * options_.weight_decay);
        }
        const torch::Tensor gradient = with_decay(reduced, parameter, decoupled_ ? 0.0 : options_.weight_decay);
        torch::Tensor& mean = exp_avg_[index];
        torch::Tensor& square = exp_avg_sq_[index];
        mean.mul_(options_.beta1).add_(gradient, 1.0 - options_.beta1);
        square.mul_(options_.beta2).addcmul_(gradient, gradient, 1.0 - options_.beta2);
        const auto denominator = square.sqrt().div_(root_of_correction_).add_(options_.epsilon);
        parameter.addcdiv_(mean, denominator, -step_size_);
    }

    OptimizerOptions options_;
    bool decoupled_;
    double step_size_ = 0.0;
    double root_of_correction_ = 1.0;
    Slot& exp_avg_;
    Slot& exp_avg_sq_;
};

std::unique_ptr<NamedOptimizer> create_sgd(const OptimizerOptions& options, model::NamedTensors parameters) {
    return std::make_unique<Sgd>(options, std::move(parameters));
}

std::unique_ptr<NamedOptimizer> create_adam(const OptimizerOptions& options, model::NamedTensors parameters) {
    return std::make_unique<Adam>(options, std::move(parameters), false);
}

std::unique_ptr<NamedOptimizer> create_adamw(const OptimizerOptions& options,
                                             model::NamedTensors parameters) {
    return std::make_unique<Adam>(options, std::move(parameters), true);
}

const OptimizerKind kinds[] = {
    {"sgd", "gradient descent with momentum (0.9), Nesterov's on request", create_sgd},
    {"adamw", "Adam with weight decay apart from the gradient", create_adamw},
    {"adam", "Adam with weight decay as part of the gradient", create_adam},
};

void require(bool holds, const std::string& rule, double value) {
    if (!holds) {
        throw Error(ExitCode::usage, "optimizer." + rule + ", not " + std::to_string(value));
    }
}

void check(const OptimizerOptions& options) {
    require(options.learning_rate >= 0.0, "learning_rate must not be negative", options.learning_rate);
    require(options.weight_decay >= 0.0, "weight_decay must not be negative", options.weight_decay);
    require(options.momentum >= 0.0 && options.momentum < 1.0, "momentum must be at least 0 and below 1",
            options.momentum);
    require(options.beta1 >= 0.0 && options.beta1 < 1.0, "beta1 must be at least 0 and below 1",
            options.beta1);
    require(options.beta2 >= 0.0 && options.beta2 < 1.0, "beta2 must be at least 0 and below 1",
            options.beta2);
    require(options.epsilon > 0.0, "epsilon must be positive", options.epsilon);
    require(!options.nesterov || options.momentum > 0.0, "nesterov needs a momentum above 0",
            options.momentum);
}

}  // namespace

std::span<const OptimizerKind> optimizer_kinds() {
    return kinds;
}

std::unique_ptr<NamedOptimizer> create_optimizer(const OptimizerOptions& options,
                                                 model::NamedTensors parameters) {
    check(options);
    std::vector<std::string> names;
    for (const OptimizerKind& kind : kinds) {
        if (kind.name == options.name) {
            return kind.create(options, std::move(parameters));
        }
        names.push_back(kind.name);
    }
    const std::string nearest = nearest_word(options.name, names);
    throw Error(ExitCode::usage, "there is no optimizer '" + options.name + "'",
                (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") +
                    std::string("known optimizers: sgd, adamw, adam"));
}

}  // namespace mastic::optimizer
