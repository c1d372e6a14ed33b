// Which samples each rank trains on, step by step. One global order per epoch, a function of (seed, epoch)
// alone, is cut into global batches, and each of these into one contiguous share per rank. The position is a
// count of samples, so it means the same for every number of ranks: a run may go on with more or fewer at any
// step, and every sample is still used exactly once per epoch. The last batch of an epoch is smaller if the
// batch size does not divide the data set; shares differ by at most one sample and may then be empty.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mastic::data {

struct SamplerPosition {
    std::uint64_t epoch = 0;
    std::uint64_t consumed =
        0;  // samples of this epoch, over all ranks; equal to the size at the epoch's end
    bool operator==(const SamplerPosition&) const = default;
};

// One step of one rank.
struct StepPlan {
    std::vector<std::uint64_t> ids;  // this rank's share, in order
    std::uint64_t global_count = 0;  // samples of this step over all ranks
    std::uint64_t epoch = 0;
    bool first_of_epoch = false;
    bool last_of_epoch = false;
    SamplerPosition after;  // the position once this step is done
};

class DistributedSampler {
  public:
    // Error(data) for an empty data set, Error(usage) for a zero batch. Memory: 8 bytes per sample if
    // `shuffle`.
    DistributedSampler(std::uint64_t dataset_size, std::uint64_t global_batch, std::uint64_t seed,
                       bool shuffle);

    // The next step of `rank`; an epoch follows the other without end. Error(data) with both counts if there
    // are fewer samples than ranks.
    StepPlan next(int rank, int world_size) {
        StepPlan plan;
        next_into(plan, rank, world_size);
        return plan;
    }
    // Unequal members: rank r gets a part in proportion to shares[r]; their sum is positive and below 2^32.
    StepPlan next(int rank, std::span<const std::uint64_t> shares) {
        StepPlan plan;
        next_into(plan, rank, shares);
        return plan;
    }
    // The same, without allocating once `plan` has been used.
    void next_into(StepPlan& plan, int rank, int world_size);
    void next_into(StepPlan& plan, int rank, std::span<const std::uint64_t> shares);

    SamplerPosition position() const { return position_; }
    // Error(checkpoint) if `position` is beyond the data set.
    void set_position(SamplerPosition position);
    // Takes effect at the next step.
    void set_global_batch(std::uint64_t global_batch);

    std::uint64_t dataset_size() const { return size_; }
    std::uint64_t global_batch() const { return global_batch_; }
    std::uint64_t steps_per_epoch() const { return (size_ + global_batch_ - 1) / global_batch_; }

  private:
    void advance(StepPlan& plan, std::uint64_t shares_before, std::uint64_t share, std::uint64_t all_shares);
    void order_epoch();

    std::uint64_t size_;
    std::uint64_t global_batch_;
    std::uint64_t seed_;
    bool shuffle_;
    SamplerPosition position_;
    std::vector<std::uint64_t> order_;  // of epoch ordered_epoch_; empty without shuffling
    std::uint64_t ordered_epoch_ = 0;
};

}  // namespace mastic::data
