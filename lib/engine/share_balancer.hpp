// Shares of the global batch that follow how fast each rank computes: --train.balance dlb.
//
// Every rank fits what its own steps cost; at first and every `interval` steps all learn the fits of all and come to the same
// shares, which count from a step on that no loader has planned yet. Losses and gradients are sums over samples, so uneven shares change no
// result but for rounding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <mastic/comm/group.hpp>
#include <mastic/data/batch_shares.hpp>
#include <mastic/data/share_schedule.hpp>
#include <mastic/engine/step_costs.hpp>

namespace mastic::engine {

class ShareBalancer {
  public:
    static constexpr std::uint64_t interval = 16;

    // A collective. `depth`: how far the loader plans ahead; `costs` outlives it. Shares are equal at first where nothing is known.
    // `late_ranks` get no samples in the first step; empty: none.
    ShareBalancer(comm::Group& group, std::uint64_t global_batch, std::uint64_t depth, StepCosts& costs,
                  const std::vector<bool>& late_ranks = {});

    // The steps of this rank, for the loader.
    data::PlanSource plans(data::DistributedSampler sampler) const;

    // Once before each step, on all ranks: every `interval` steps a collective. Returns the shares if they change, and at the first
    // step if they are not equal.
    std::optional<data::Shares> agree();

  private:
    StepCosts::ByRank costs_of_all();

    comm::Group& group_;
    const std::uint64_t depth_;
    StepCosts& costs_;
    data::Shares shares_;  // decided last
    std::shared_ptr<data::ShareSchedule> schedule_;
    bool untold_;
    std::uint64_t step_ = 0;  // the one before which agree() comes next
    std::uint64_t next_look_ = interval;
};

}  // namespace mastic::engine
