// Reads batches ahead of the training, in a thread of its own.
//
// Rules:
// - Batches come in the order of their plans, each exactly once.
// - Buffers are recycled: after the first depth + 1 batches the loader allocates nothing.
// - `position` counts what was taken, not what was read ahead: it is what a checkpoint stores.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include <mastic/core/duration.hpp>
#include <mastic/data/augmentation.hpp>
#include <mastic/data/distributed_sampler.hpp>

namespace mastic::data {

// Writes the next step into `plan`; false when there are no more. Called by the loader thread only.
using PlanSource = std::function<bool(StepPlan& plan)>;

// The steps of `rank` from the sampler's position on, without end.
PlanSource endless_plans(DistributedSampler sampler, int rank, int world_size);
// The same up to the end of the epoch that the next step belongs to: for evaluation.
PlanSource epoch_plans(DistributedSampler sampler, int rank, int world_size);

struct LoadedBatch {
    StepPlan plan;
    Batch batch;  // of plan.ids; may have no samples
};

struct LoaderOptions {
    std::size_t depth = 2;     // batches read ahead
    Seconds timeout{300};      // for one batch
    Seconds stop_timeout{10};  // for the thread to end; then it is left to itself
};

class BatchLoader {
  public:
    BatchLoader(std::shared_ptr<const Dataset> dataset, PlanSource plans,
                std::optional<Augmentation> augmentation, SamplerPosition start,
                const LoaderOptions& options = {});
    ~BatchLoader();
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    // The next batch, valid until the next call; null after the last. Rethrows what the thread met, in its
    // turn; Error(io) if the batch does not come in time.
    const LoadedBatch* next();

    // After the batch taken last; `start` before.
    SamplerPosition position() const { return position_; }
    // Batches that lie ready: 0 again and again means that reading limits the training.
    std::size_t ready() const;

  private:
    struct Shared;
    bool stop();  // true if the thread ended in time

    std::shared_ptr<Shared> shared_;
    SamplerPosition position_;
    LoaderOptions options_;
    std::thread thread_;
};

}  // namespace mastic::data
