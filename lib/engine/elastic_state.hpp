// A training's state as members of an elastic run give it to each other: whole, to newcomers; and as the reduced gradients of
// single steps, from which a newcomer or a laggard makes the same update as everybody has made.
//
// Weights stay identical on all members because all apply the same gradients, bit for bit, in the same order. Buffers
// (BatchNorm's statistics) change in the forward pass already, so those after the last applied step are kept: what a broken
// step has done to them is undone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <torch/types.h>

#include <mastic/elastic/membership.hpp>
#include <mastic/engine/train_state.hpp>
#include <mastic/gradient/flat_gradients.hpp>
#include <mastic/optimizer/learning_rate_schedule.hpp>

namespace mastic::engine {

class ElasticState : public elastic::ReplicatedState {
  public:
    // All references outlive it.
    ElasticState(TrainState& state, const optimizer::LearningRateSchedule& schedule,
                 const gradient::BucketOptions& buckets, const ArithmeticFacts& arithmetic);

    elastic::Blob snapshot() override;
    void load(elastic::Step step, std::span<const std::byte> snapshot) override;
    void apply(elastic::Step step, std::span<const std::byte> reduced) override;

    // Called once before a newcomer's state is replaced: until then it may be used up.
    void on_newcomer(std::function<void()> use) { on_newcomer_ = std::move(use); }

    // What was applied in the step that has just been done, for the others. `samples`: of that step, over all ranks.
    elastic::Blob record(std::shared_ptr<const gradient::FlatGradients> gradients, std::uint64_t samples);
    // Undoes what a step that was not applied has changed.
    void roll_back();
    // The same on all members that are in the same state.
    std::uint64_t fingerprint() const;

    // The present buffers are those of the last applied step.
    void note_buffers();

  private:
    TrainState& state_;
    const optimizer::LearningRateSchedule& schedule_;
    const ArithmeticFacts arithmetic_;
    const model::NamedTensors parameters_;
    const std::vector<gradient::Bucket> buckets_;
    std::function<void()> on_newcomer_;
    std::vector<torch::Tensor> kept_buffers_;  // after the last applied step
    std::unique_ptr<gradient::FlatGradients> received_;
};

}  // namespace mastic::engine
