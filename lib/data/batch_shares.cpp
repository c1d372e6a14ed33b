#include <mastic/data/batch_shares.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <mastic/core/error.hpp>

namespace mastic::data {
namespace {

// Parts of `total`, none below `least`, in whole numbers: the largest remainders are rounded up.
Shares rounded(const std::vector<double>& exact, std::uint64_t total, std::uint64_t least) {
    Shares shares;
    for (const double part : exact) {
        shares.push_back(std::max(static_cast<std::uint64_t>(part), least));
    }
    std::vector<std::size_t> order(exact.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto over = [&](std::size_t i) { return exact[i] - static_cast<double>(shares[i]); };
    auto sum = std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
    for (; sum < total; ++sum) {
        ++shares[*std::ranges::max_element(order, {}, over)];
    }
    for (; sum > total; --sum) {  // what `least` has added, or rounding of the exact parts
        --shares[*std::ranges::min_element(
            order, {}, [&](std::size_t i) { return shares[i] > least ? over(i) : HUGE_VAL; })];
    }
    return shares;
}

// A sample of a slow member is much in a small batch: single ones move from the slowest member while a step gets shorter.
Shares refined(std::span<const StepCost> costs, Shares shares) {
    std::vector<std::size_t> members(costs.size());
    std::iota(members.begin(), members.end(), std::size_t{0});
    for (;;) {
        const auto slowest =
            *std::ranges::max_element(members, {}, [&](std::size_t i) { return costs[i].of(shares[i]); });
        const auto taker =
            *std::ranges::min_element(members, {}, [&](std::size_t i) { return costs[i].of(shares[i] + 1); });
        if (shares[slowest] == 1 ||
            costs[taker].of(shares[taker] + 1) >= costs[slowest].of(shares[slowest])) {
            return shares;
        }
        --shares[slowest];
        ++shares[taker];
    }
}

// The parts of those that are `in`; the others keep one sample.
std::vector<double> solve(std::span<const StepCost> costs, const std::vector<bool>& in, double batch) {
    double work = batch;
    double speed = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        if (in[i]) {
            work += costs[i].fixed / costs[i].per_sample;
            speed += 1 / costs[i].per_sample.count();
        } else {
            work -= 1;
        }
    }
    std::vector<double> parts;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        parts.push_back(in[i] ? (work / speed - costs[i].fixed.count()) / costs[i].per_sample.count() : 1);
    }
    return parts;
}

std::vector<StepCost> with_means(std::span<const std::optional<StepCost>> measured) {
    StepCost sum;
    double count = 0;
    for (const auto& cost : measured) {
        if (cost) {
            sum = {sum.fixed + cost->fixed, sum.per_sample + cost->per_sample};
            ++count;
        }
    }
    std::vector<StepCost> costs;
    for (const auto& cost : measured) {
        costs.push_back(cost.value_or(StepCost{sum.fixed / count, sum.per_sample / count}));
    }
    return costs;
}

}  // namespace

Shares equal_shares(std::uint64_t global_batch, std::size_t members) {
    Shares shares(members, global_batch / members);
    std::fill_n(shares.begin(), global_batch % members, global_batch / members + 1);
    return shares;
}

Shares balanced_shares(std::span<const StepCost> costs, std::uint64_t global_batch) {
    if (global_batch < costs.size()) {
        throw Error(ExitCode::usage, "a batch of " + std::to_string(global_batch) + " samples for " +
                                         std::to_string(costs.size()) + " members");
    }
    std::vector<bool> in(costs.size(), true);
    for (;;) {
        const std::vector<double> parts = solve(costs, in, static_cast<double>(global_batch));
        bool all_fit = true;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (in[i] && parts[i] < 1) {
                in[i] = all_fit = false;
            }
        }
        if (all_fit) {
            return refined(costs, rounded(parts, global_batch, 1));
        }
    }
}

Seconds step_time(std::span<const StepCost> costs, const Shares& shares) {
    Seconds slowest{0};
    for (std::size_t i = 0; i < costs.size(); ++i) {
        slowest = std::max(slowest, costs[i].of(shares[i]));
    }
    return slowest;
}

Shares next_shares(std::span<const std::optional<StepCost>> measured, const Shares& present,
                   const BalanceRules& rules) {
    const auto batch = std::accumulate(present.begin(), present.end(), std::uint64_t{0});
    const bool known = std::ranges::any_of(measured, [](const auto& cost) { return cost.has_value(); });
    if (!known || batch < present.size()) {
        return present;
    }
    const std::vector<StepCost> costs = with_means(measured);
    const Shares best = balanced_shares(costs, batch);
    if (step_time(costs, best) > step_time(costs, present) * (1 - rules.least_gain)) {
        return present;
    }
    std::vector<double> bounded;
    double sum = 0;
    for (std::size_t i = 0; i < best.size(); ++i) {
        const auto now = static_cast<double>(present[i]);
        bounded.push_back(
            std::clamp(static_cast<double>(best[i]), now / rules.most_change, now * rules.most_change));
        sum += bounded.back();
    }
    for (double& part : bounded) {
        part *= static_cast<double>(batch) / sum;
    }
    return rounded(bounded, batch, 1);
}

bool would_help(std::span<const StepCost> costs, const StepCost& newcomer, std::uint64_t batch_without, std::uint64_t batch_with) {
    std::vector<StepCost> all(costs.begin(), costs.end());
    const Seconds without = step_time(all, balanced_shares(all, batch_without));
    all.push_back(newcomer);
    return batch_with >= all.size() && step_time(all, balanced_shares(all, batch_with)) * static_cast<double>(batch_without) <
                                           without * static_cast<double>(batch_with);
}

}  // namespace mastic::data
