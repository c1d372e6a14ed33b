// Several policies on the same trace and the same queue of trainings.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mastic/schedule/replay.hpp>

namespace mastic::schedule {

struct SimulationSettings {
    Workload workload;
    RescaleCosts restart = stop_and_restart;  // of the policies that stop and restart
    RescaleCosts live = live_growth;          // of those that do not
    double horizon_s = 120;                   // of bftrainer and malletrain
    double fixed_horizon_s = 0;               // of mastic; 0: tuned
    int fixed_size = 8;
    double learn_every_s = 86'400;
};

struct PolicyRun {
    const PolicyKind* kind = nullptr;
    ReplayResult result;
    // Progress / progress of the oracle on the same trace and trainings.
    std::optional<double> efficiency;
};

// What a replay of this policy records besides (`options.costs` and learn_every_s are set here).
PolicyRun run_policy(const IdleTrace& trace, const SimulationSettings& settings, const PolicyKind& kind,
                     ReplayOptions options = {});

RescaleCosts costs_of(const PolicyKind& kind, const SimulationSettings& settings);

// Fills in the efficiencies, if the oracle is among the runs.
void compare_with_oracle(std::vector<PolicyRun>& runs);

}  // namespace mastic::schedule
