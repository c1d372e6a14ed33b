// What is known of the speed of the ranks, beyond the life of one group of them.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <mastic/data/step_cost.hpp>

namespace mastic::engine {

class StepCosts {
  public:
    using ByRank = std::vector<std::optional<data::StepCost>>;  // none: nothing measured yet

    // Of this process's own steps; in the trainer's thread only.
    void observe(std::uint64_t samples, Seconds computing) { own_.observe(samples, computing); }
    std::optional<data::StepCost> own() const { return own_.estimate(); }

    // What the ranks have told one another last. In any thread.
    void know(ByRank all) {
        const std::lock_guard lock(mutex_);
        all_ = std::move(all);
    }
    ByRank all() const {
        const std::lock_guard lock(mutex_);
        return all_;
    }

  private:
    data::StepCostFit own_;
    mutable std::mutex mutex_;
    ByRank all_;
};

}  // namespace mastic::engine
