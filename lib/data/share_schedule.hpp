// Which shares count from which step on. The trainer decides; the loader, which plans ahead in a thread of its own, asks.
//
// All ranks change at the same step only if nobody has planned it yet: a change takes effect `LoaderOptions::depth` steps after
// the one that it was decided on (BatchLoader never plans further ahead).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <mastic/data/batch_loader.hpp>
#include <mastic/data/batch_shares.hpp>

namespace mastic::data {

class ShareSchedule {
  public:
    explicit ShareSchedule(Shares first) { changes_[0] = std::move(first); }

    // From step `from` of the loader on (0: its first one); later than all that was set before.
    void change(std::uint64_t from, Shares shares) {
        const std::lock_guard lock(mutex_);
        changes_[from] = std::move(shares);
    }
    // Ranks that are true here get no samples in the first step.
    void leave_out_of_first_step(const std::vector<bool>& ranks) {
        const std::lock_guard lock(mutex_);
        changes_.try_emplace(1, changes_.at(0));
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            changes_.at(0)[rank] *= ranks[rank] ? 0 : 1;
        }
    }
    Shares at(std::uint64_t step) const {
        const std::lock_guard lock(mutex_);
        return std::prev(changes_.upper_bound(step))->second;
    }

  private:
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Shares> changes_;
};

// As endless_plans, with the shares of each step.
PlanSource shared_plans(DistributedSampler sampler, int rank, std::shared_ptr<const ShareSchedule> schedule);

}  // namespace mastic::data
