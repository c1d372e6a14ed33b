#include <mastic/engine/evaluator.hpp>

#include <torch/torch.h>

#include <spdlog/fmt/fmt.h>

#include <mastic/data/batch_loader.hpp>
#include <mastic/engine/autocast.hpp>
#include <mastic/engine/batch_tensors.hpp>
#include <mastic/engine/data_setup.hpp>

namespace mastic::engine {
namespace {

// The ids of one part, in order, batch by batch.
data::PlanSource part_plans(std::uint64_t size, Part part, std::uint64_t batch) {
    const auto world = static_cast<std::uint64_t>(part.world_size);
    const auto rank = static_cast<std::uint64_t>(part.rank);
    const std::uint64_t end = size * (rank + 1) / world;
    return [begin = size * rank / world, end, batch](data::StepPlan& plan) mutable {
        const std::uint64_t count = std::min(batch, end - begin);
        plan.ids.resize(count);
        std::iota(plan.ids.begin(), plan.ids.end(), begin);
        begin += count;
        return count > 0;
    };
}

// Evaluation mode while it lives.
class EvaluationMode {
  public:
    explicit EvaluationMode(model::Network& network) : network_(network), training_(network.is_training()) {
        network_.eval();
    }
    ~EvaluationMode() { network_.train(training_); }
    EvaluationMode(const EvaluationMode&) = delete;
    EvaluationMode& operator=(const EvaluationMode&) = delete;

  private:
    model::Network& network_;
    bool training_;
};

}  // namespace

void for_each_output(const std::shared_ptr<const data::Dataset>& dataset, Part part, const EvaluatorOptions& options,
                     model::Network& network,
                     const std::function<void(const data::Batch& batch, const torch::Tensor& outputs)>& use) {
    const EvaluationMode evaluation_mode(network);
    const torch::NoGradGuard no_grad;
    const torch::Device device = model::device_of(network);
    data::BatchLoader loader(dataset, part_plans(dataset->size(), part, options.batch), std::nullopt, {});
    while (const data::LoadedBatch* loaded = loader.next()) {
        const Autocast autocast(options.precision == "bf16", device);
        const torch::Tensor inputs = tensors_of(loaded->batch, dataset->layout()).inputs.to(device);
        use(loaded->batch, network.forward(network_input(inputs, options.precision)));
    }
}

std::string describe(const Evaluation& evaluation, std::uint64_t epoch) {
    std::string text = fmt::format("epoch {}: test loss {:.4f}", epoch, evaluation.loss);
    for (const auto& [name, value] : evaluation.metrics) {
        if (name != "loss") {
            text += fmt::format(", {} {:.4f}", name, value);
        }
    }
    return text;
}

EvaluatorOptions evaluator_options(const TrainOptions& options, const data::SampleLayout& layout) {
    EvaluatorOptions result;
    result.loss = loss_kind(options.train.loss, layout);
    result.precision = options.train.precision;
    return result;
}

Evaluator::Evaluator(std::shared_ptr<const data::Dataset> dataset, comm::Group& group, const EvaluatorOptions& options)
    : dataset_(std::move(dataset)), group_(group), options_(options) {}

Evaluation Evaluator::run(model::Network& network) const {
    model::MetricSums sums;
    const data::SampleLayout& layout = dataset_->layout();
    for_each_output(dataset_, {group_.rank(), group_.size()}, options_, network,
                    [&](const data::Batch& batch, const torch::Tensor& outputs) {
                        const BatchTensors tensors = on_device(tensors_of(batch, layout), outputs.device(), layout.classes);
                        sums += model::metric_sums(options_.loss, outputs, tensors.targets);
                    });
    group_.allreduce(comm::view_of(std::span(sums.values)), comm::ReduceOp::sum, {0, "evaluation"});
    Evaluation evaluation;
    evaluation.samples = static_cast<std::uint64_t>(sums.samples());
    evaluation.loss = model::metric_value("loss", sums);
    for (const std::string& name : model::metric_names(options_.loss, layout.input_type == DataType::int64)) {
        evaluation.metrics[name] = model::metric_value(name, sums);
    }
    return evaluation;
}

}  // namespace mastic::engine
