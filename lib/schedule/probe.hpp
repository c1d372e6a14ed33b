// Is it worth to run a job for a moment on another number of nodes, only to learn its throughput there?
#pragma once

#include <span>
#include <vector>

#include <mastic/schedule/allocator.hpp>
#include <mastic/schedule/job_profile.hpp>
#include <mastic/schedule/policy.hpp>

namespace mastic::schedule {

struct ProbeEstimate {
    double gain = 0;  // node-seconds of work, expected from knowing
    double cost = 0;  // node-seconds of work, lost by measuring
    bool pays() const { return gain > cost; }
};

struct ProbeQuestion {
    const Situation& situation;
    std::span<const JobValues> values;  // as believed, by job
    const Allocation& allocation;       // their maximum
    std::size_t job = 0;
    int nodes = 0;           // to be measured
    double horizon_s = 0;    // of the values
    double remaining_s = 0;  // how long the job is expected to use what is learned
    double measure_s = 20;
    RescaleCosts costs;
};

// Gain: the job's exponent may be one standard error larger or smaller; how much better is the allocation of who knows,
// on average of the two, for as long as the job runs? Cost: the best allocation with the job on the probed number of
// nodes until it is measured, against that without.
ProbeEstimate estimate_probe(const ProbeQuestion& question, const JobProfile& profile);

// The sizes most, most / 2, ... that the job may be given and that are not known to 3 %, the largest first.
std::vector<int> probe_sizes(const JobState& job, const JobProfile& profile, int nodes);

}  // namespace mastic::schedule
