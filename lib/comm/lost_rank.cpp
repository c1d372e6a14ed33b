#include <mastic/comm/lost_rank.hpp>

#include <algorithm>

namespace mastic::comm {

void LossRecord::add(int rank) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(ranks_, rank) == ranks_.end()) {
        ranks_.push_back(rank);
    }
}

std::vector<int> LossRecord::ranks() const {
    const std::lock_guard lock(mutex_);
    return ranks_;
}

}  // namespace mastic::comm
