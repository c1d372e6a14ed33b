// An optimizer whose state is keyed by parameter name, so that it can be stored and taken up again. torch::optim keys
// its state by the address of a tensor, in another way in each version; the update rules here are the same, operation
// by operation, so that results are bit-identical to torch::optim's.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <torch/types.h>

#include <mastic/model/network.hpp>

namespace mastic::optimizer {

// Tensors named "momentum_buffer/PARAMETER", "exp_avg/PARAMETER", "exp_avg_sq/PARAMETER", grouped by the first word,
// parameters in their order. They are the optimizer's own: copy them before the next step.
struct OptimizerState {
    model::NamedTensors tensors = {};
    std::int64_t steps = 0;
};

class NamedOptimizer {
  public:
    NamedOptimizer(model::NamedTensors parameters, double learning_rate);
    virtual ~NamedOptimizer() = default;

    // One update from the parameters' gradients, which stay as they are: members of an elastic run give them to others, which
    // make the same update. A parameter without a gradient stays as it is.
    void step();
    std::int64_t steps() const { return steps_; }

    double learning_rate() const { return learning_rate_; }
    void set_learning_rate(double rate) { learning_rate_ = rate; }

    // All state exists from the start, zero before the first step.
    OptimizerState state() const;
    // Copies into the optimizer's own tensors: those of state() stay valid. Error(checkpoint) naming what is missing,
    // unexpected or misshapen; nothing has changed then.
    void load_state(const OptimizerState& state);

  protected:
    using Slot = std::vector<torch::Tensor>;  // one tensor per parameter

    // A zeroed slot that is part of the state under this name.
    Slot& add_slot(const char* name);
    virtual void begin_step() {}
    virtual void update(std::size_t index, torch::Tensor& parameter, const torch::Tensor& gradient) = 0;

  private:
    model::NamedTensors parameters_;
    double learning_rate_;
    std::int64_t steps_ = 0;
    std::vector<std::pair<const char*, std::unique_ptr<Slot>>> slots_;
};

}  // namespace mastic::optimizer
