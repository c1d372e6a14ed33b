// The relaxation behind the allocator: each job's values replaced by their concave hull.
#pragma once

#include <span>
#include <vector>

#include <mastic/schedule/allocator.hpp>

namespace mastic::schedule {

struct HullSolution {
    std::vector<int> nodes;  // feasible
    double value = 0;
    double bound = 0;  // the relaxation's value
    double price = 0;  // of a node in the relaxation: 0 if nodes are left over
};

// The greedy solution along the hulls, then single jobs raised as long as that gains with the nodes left.
HullSolution solve_hulls(std::span<const JobValues> jobs, int nodes);

// The largest value minus what its nodes cost, over all counts up to `nodes`.
double best_net_value(const JobValues& job, double price, int nodes);

// The counts that a job may have: up to its table and to `nodes`.
int largest_count(const JobValues& job, int nodes);

}  // namespace mastic::schedule
