// The model on a split of the data, over all ranks: each takes a contiguous part, the sums are added up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <mastic/comm/group.hpp>
#include <mastic/data/dataset.hpp>
#include <mastic/engine/front/train_options.hpp>
#include <mastic/model/loss.hpp>
#include <mastic/model/network.hpp>

namespace mastic::engine {

struct Evaluation {
    std::uint64_t samples = 0;
    double loss = 0.0;                      // mean over the samples
    std::map<std::string, double> metrics;  // "accuracy" -> 0.91
};

// "epoch 3: test loss 0.312, accuracy 0.9012"
std::string describe(const Evaluation& evaluation, std::uint64_t epoch);

struct EvaluatorOptions {
    std::uint64_t batch = 256;  // samples of one rank at once
    std::string precision = "float32";  // train.precision
    model::LossKind loss = model::LossKind::cross_entropy;
};

EvaluatorOptions evaluator_options(const TrainOptions& options, const data::SampleLayout& layout);

class Evaluator {
  public:
    Evaluator(std::shared_ptr<const data::Dataset> dataset, comm::Group& group, const EvaluatorOptions& options);

    // All ranks call it; all get the same result. The network is in evaluation mode meanwhile, then as before.
    Evaluation run(model::Network& network) const;

  private:
    std::shared_ptr<const data::Dataset> dataset_;
    comm::Group& group_;
    EvaluatorOptions options_;
};

// Calls `use(batch, outputs)` for each batch of this rank's part of the data, in order, in evaluation mode and without
// gradients: what evaluation and prediction share. With world_size 1 the part is all of the data.
struct Part {
    int rank = 0;
    int world_size = 1;
};
void for_each_output(const std::shared_ptr<const data::Dataset>& dataset, Part part, const EvaluatorOptions& options,
                     model::Network& network,
                     const std::function<void(const data::Batch& batch, const torch::Tensor& outputs)>& use);

}  // namespace mastic::engine
