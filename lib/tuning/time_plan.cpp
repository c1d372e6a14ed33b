#include <mastic/tuning/time_plan.hpp>

#include <algorithm>
#include <cmath>

namespace mastic::tuning {

TimePlan::TimePlan(std::vector<double> weights, Seconds budget)
    : weight_from_(std::move(weights)), budget_(budget) {
    for (std::size_t i = weight_from_.size(); i-- > 1;) {
        weight_from_[i - 1] += weight_from_[i];
    }
}

Seconds TimePlan::allotted(std::size_t cell, Seconds elapsed) const {
    const double after = cell + 1 < weight_from_.size() ? weight_from_[cell + 1] : 0;
    const double share = (weight_from_[cell] - after) / weight_from_[cell];
    return std::max(budget_ - elapsed, Seconds{0}) * share;
}

double cell_weight(comm::Collective collective, Bytes size) {
    const double root = std::sqrt(static_cast<double>(size.count) / (64 << 10));
    return std::clamp(root, 1.0, 32.0) * (collective == comm::Collective::allreduce ? 3 : 1);
}

}  // namespace mastic::tuning
