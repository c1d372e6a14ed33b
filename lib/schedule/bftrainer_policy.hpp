// The objective of BFTrainer, which MalleTrain took over.
#pragma once

#include <functional>
#include <vector>

#include <mastic/schedule/policy.hpp>

namespace mastic::schedule {

// Maximises the sum of T f(n) - (n > c ? start : n < c ? shrink : 0) f(c), c the present size: what a rescaling costs is
// counted in the job's old rate (so starting from zero is free). Exact, where the authors use a MILP with a time limit.
// `skip`: jobs that keep what they have.
std::vector<Target> bftrainer_targets(const Situation& situation, double horizon_s, const RescaleCosts& costs,
                                      const std::function<const ThroughputCurve&(std::size_t job)>& curve,
                                      const std::vector<bool>& skip);

}  // namespace mastic::schedule
