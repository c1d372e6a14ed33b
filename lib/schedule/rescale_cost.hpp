// What changing the number of nodes of a training costs, and what a training gets done in the time ahead.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include <mastic/schedule/throughput_curve.hpp>

namespace mastic::schedule {

struct RescaleCosts {
    double start_s = 18;   // from the decision until added nodes compute
    double shrink_s = 12;  // what stays stands still, when nodes leave
    double join_s = 0;     // live: what runs stands still when the added nodes are ready
    bool live = false;     // growth does not stop what runs; otherwise that stands still for start_s
};

inline constexpr RescaleCosts stop_and_restart{18, 12, 0, false};
inline constexpr RescaleCosts live_growth{18, 2, 1, true};
inline constexpr RescaleCosts free_of_cost{0, 0, 0, false};

// Nodes that were given to a job and do not compute yet.
struct StartingNodes {
    int nodes = 0;
    double ready_s = 0;  // a time
};

// Where a job stands; times in seconds of the caller's clock.
struct JobNodes {
    int running = 0;
    std::vector<StartingNodes> starting;  // by ready_s
    double paused_until_s = -std::numeric_limits<double>::infinity();

    int held() const;
};

// Progress (rate x seconds) within `horizon_s` from `now_s` if the job is given `nodes` now and keeps them. `least`:
// with fewer nodes nothing is computed. Nodes that are still starting are given up first, at no cost.
double expected_progress(const ThroughputCurve& rate, const JobNodes& job, int nodes, int least, double now_s,
                         double horizon_s, const RescaleCosts& costs);

}  // namespace mastic::schedule
