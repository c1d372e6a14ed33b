// A training's state as members of an elastic run give it to each other: whole, to newcomers; and as the reduced gradients of
// single steps, from which a newcomer or a laggard makes the same update as everybody has made.
//
// Weights stay identical on all members because all apply the same gradients, bit for bit, in the same order. Buffers
// (BatchNorm's statistics) change in the forward pass already, so those after the last applied step are kept: what a broken
// step has done to them is undone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <torch/types.h>

#include <mastic/elastic/membership.hpp>
#include <mastic/engine/applied_step.hpp>
#include <mastic/engine/train_state.hpp>
#include <mastic/gradient/flat_gradients.hpp>

namespace mastic::engine {

class ElasticState : public elastic::ReplicatedState {
  public:
    // All references outlive it.
    ElasticState(TrainState& state, const gradient::BucketOptions& buckets, const ArithmeticFacts& arithmetic);

    elastic::Blob snapshot() override;
    void expect_snapshot() override;
    void load(elastic::Step step, std::span<const std::byte> snapshot) override;
    void apply(elastic::Step step, std::span<const std::byte> reduced) override;

    // Called once before a newcomer's state is replaced: until then it may be used up.
    void on_newcomer(std::function<void()> use) { on_newcomer_ = std::move(use); }

    // Told of each step that others have done and that is applied here.
    void on_step_of_others(std::function<void(const AppliedStep&)> tell) { on_step_of_others_ = std::move(tell); }

    // What was applied in the step that has just been done, for the others.
    elastic::Blob record(std::shared_ptr<const gradient::FlatGradients> gradients, const AppliedStep& step);
    // Undoes what a step that was not applied has changed.
    void roll_back();
    // The same on all members that are in the same state.
    std::uint64_t fingerprint() const;

    // The present buffers are those of the last applied step.
    void note_buffers();

  private:
    TrainState& state_;
    const ArithmeticFacts arithmetic_;
    const model::NamedTensors parameters_;
    const std::vector<gradient::Bucket> buckets_;
    std::function<void()> on_newcomer_;
    std::function<void(const AppliedStep&)> on_step_of_others_;
    std::vector<torch::Tensor> kept_buffers_;  // after the last applied step

    // Memory of a snapshot: fresh one is many times slower to write to, so it is touched beforehand, and used again.
    struct Copy {
        std::shared_ptr<std::byte[]> bytes;
        std::uint64_t size = 0;
    };
    std::shared_ptr<std::byte[]> take_copy(std::uint64_t size);
    std::mutex copy_mutex_;
    Copy copy_;
    std::atomic<std::uint64_t> state_bytes_{0};  // of the last snapshot, or of the state after the first step here
    std::unique_ptr<gradient::FlatGradients> received_;
};

}  // namespace mastic::engine
