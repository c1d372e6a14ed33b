#include <mastic/engine/network_setup.hpp>

#include <torch/torch.h>

#include <algorithm>

#include <mastic/core/error.hpp>
#include <mastic/model/registry.hpp>
#include <mastic/optimizer/optimizer_factory.hpp>

namespace mastic::engine {

std::shared_ptr<model::Network> make_network(const TrainOptions& options, const model::InputSpec& input) {
    model::ModelOptions wanted;
    wanted.name = options.model.name;
    wanted.file = options.model.file;
    wanted.init = options.model.init;
    wanted.hidden = options.model.hidden;
    wanted.dropout = options.model.dropout;
    wanted.width = options.model.width;
    wanted.depth = options.model.depth;
    wanted.heads = options.model.heads;
    torch::manual_seed(static_cast<std::uint64_t>(options.run.seed));
    std::shared_ptr<model::Network> network = model::create_network(wanted, input);
    if (options.train.precision == "float64") {
        network->to(torch::kFloat64);
    }
    return network;
}

std::unique_ptr<optimizer::NamedOptimizer> make_optimizer(const TrainOptions& options, const model::Network& network) {
    optimizer::OptimizerOptions wanted;
    wanted.name = options.optimizer.name;
    wanted.learning_rate = options.optimizer.learning_rate;
    wanted.weight_decay = options.optimizer.weight_decay;
    wanted.momentum = options.optimizer.momentum;
    wanted.nesterov = options.optimizer.nesterov;
    wanted.beta1 = options.optimizer.beta1;
    wanted.beta2 = options.optimizer.beta2;
    wanted.epsilon = options.optimizer.epsilon;
    model::NamedTensors parameters = model::trainable_parameters(network);
    if (parameters.empty()) {
        throw Error(ExitCode::usage, "the network has no parameter that requires a gradient",
                    "a TorchScript file must keep requires_grad: save it in training mode, not frozen");
    }
    return optimizer::create_optimizer(wanted, std::move(parameters));
}

optimizer::LearningRateSchedule make_schedule(const TrainOptions& options, std::uint64_t planned_samples) {
    const ScheduleSection& section = options.schedule;
    optimizer::ScheduleOptions wanted;
    wanted.base = options.optimizer.learning_rate;
    wanted.kind = optimizer::parse_schedule_kind(section.kind);
    wanted.warmup = static_cast<std::uint64_t>(section.warmup);
    wanted.decay_points.assign(section.milestones.begin(), section.milestones.end());
    wanted.decay_factor = section.factor;
    wanted.final_rate = section.final_fraction * wanted.base;
    // A trial run that ends inside the warm-up is no mistake.
    wanted.total = std::max(planned_samples, wanted.warmup + 1);
    return optimizer::LearningRateSchedule(wanted);
}

}  // namespace mastic::engine
