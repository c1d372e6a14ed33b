// How a global batch is shared out over members of different speed, so that all finish at once.
//
// With t_i(b) = a_i + c_i b, all finish after T = (B + sum a_i / c_i) / sum 1 / c_i, member i having b_i = (T - a_i) / c_i samples
// (Tyagi and Sharma, "Taming Resource Heterogeneity in Distributed ML Training with Dynamic Batching", 2020; the fixed part as in
// Scale-Train). A member whose b_i would be below one keeps a single sample, so that it can still be seen how fast it is, and the
// rest is solved again. Whole samples by the largest-remainder rule; then single ones move while that makes a step shorter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <mastic/data/step_cost.hpp>

namespace mastic::data {

using Shares = std::vector<std::uint64_t>;  // samples of a full global batch, by rank

// At most one apart, the larger ones first: what ranks have without balancing.
Shares equal_shares(std::uint64_t global_batch, std::size_t members);

// Sum: `global_batch`, which is at least the number of members; every share is at least 1. Costs per sample are positive.
Shares balanced_shares(std::span<const StepCost> costs, std::uint64_t global_batch);

// Of the slowest member.
Seconds step_time(std::span<const StepCost> costs, const Shares& shares);

// What is changed when members have measured again: nothing, if a step would not get faster by `least_gain`; and no share more than
// doubles or halves at once, so that one wrong measurement does little harm. Members that have not measured anything count as the mean of
// the others; if nobody has, or there are fewer samples than members, nothing
// changes.
struct BalanceRules {
    double least_gain = 0.05;
    double most_change = 2.0;
};
Shares next_shares(std::span<const std::optional<StepCost>> measured, const Shares& present,
                   const BalanceRules& rules = {});

// Are more samples done in a time with a newcomer of this cost, and steps of `batch_with` samples instead of `batch_without`?
// `costs`: of the present members.
bool would_help(std::span<const StepCost> costs, const StepCost& newcomer, std::uint64_t batch_without, std::uint64_t batch_with);

}  // namespace mastic::data
