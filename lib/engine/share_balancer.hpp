// Shares of the global batch that follow how fast each rank computes: --train.balance dlb.
//
// Every rank fits what its own steps cost; every `interval` steps all learn the fits of all and come to the same shares, which
// count from a step on that no loader has planned yet. Losses and gradients are sums over samples, so uneven shares change no
// result but for rounding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <mastic/comm/group.hpp>
#include <mastic/data/batch_shares.hpp>
#include <mastic/data/share_schedule.hpp>
#include <mastic/data/step_cost.hpp>

namespace mastic::engine {

class ShareBalancer {
  public:
    static constexpr std::uint64_t interval = 16;

    // `depth`: how far the loader plans ahead. Shares are equal at first.
    ShareBalancer(comm::Group& group, std::uint64_t global_batch, std::uint64_t depth);

    // The steps of this rank, for the loader.
    data::PlanSource plans(data::DistributedSampler sampler) const;

    // After each step: this rank took `computing` for `samples`, waiting for others left out.
    void observe(std::uint64_t samples, Seconds computing);
    // Before each step, on all ranks: every `interval` steps a collective. Returns the new shares if they change.
    std::optional<data::Shares> agree();

  private:
    std::vector<std::optional<data::StepCost>> costs_of_all();

    comm::Group& group_;
    const std::uint64_t depth_;
    data::Shares shares_;  // decided last
    std::shared_ptr<data::ShareSchedule> schedule_;
    data::StepCostFit fit_;
    std::uint64_t steps_ = 0;
    std::uint64_t next_look_ = interval;
};

}  // namespace mastic::engine
