#include <mastic/schedule/simulation.hpp>

#include <algorithm>
#include <string_view>

namespace mastic::schedule {
namespace {

bool is_oracle(const PolicyKind& kind) {
    return std::string_view(kind.name) == "oracle";
}

}  // namespace

RescaleCosts costs_of(const PolicyKind& kind, const SimulationSettings& settings) {
    return is_oracle(kind) ? free_of_cost : kind.live ? settings.live : settings.restart;
}

PolicyRun run_policy(const IdleTrace& trace, const SimulationSettings& settings, const PolicyKind& kind,
                     ReplayOptions options) {
    options.costs = costs_of(kind, settings);
    options.learn_every_s = settings.learn_every_s;
    const auto policy = kind.make({.costs = options.costs,
                                   .most = settings.workload.most,
                                   .horizon_s = settings.horizon_s,
                                   .fixed_horizon_s = settings.fixed_horizon_s,
                                   .fixed_size = settings.fixed_size,
                                   .slots = settings.workload.slots,
                                   .seed = settings.workload.seed});
    return {&kind, replay(trace, settings.workload, kind, *policy, options), {}};
}

void compare_with_oracle(std::vector<PolicyRun>& runs) {
    const auto oracle = std::ranges::find_if(runs, [](const PolicyRun& run) { return is_oracle(*run.kind); });
    if (oracle == runs.end() || oracle->result.progress <= 0) {
        return;
    }
    const double best = oracle->result.progress;
    for (PolicyRun& run : runs) {
        run.efficiency = run.result.progress / best;
    }
}

}  // namespace mastic::schedule
