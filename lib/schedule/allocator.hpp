// How many nodes each job gets: the exact maximum of the sum over jobs of value_j(n_j), with sum n_j <= nodes.
//
// Nodes of one class are interchangeable as long as no job exchanges nodes, so only counts matter: a multiple-choice
// knapsack problem with unit weights, which a dynamic program over (job, nodes used) solves exactly, whatever the shape
// of the values. Before that, the concave hulls of the values give an upper bound (the linear relaxation) and a feasible
// solution; a count whose loss against the bound exceeds the gap between the two cannot be in an optimum and is dropped
// (Sinha and Zoltners 1979; Pisinger 1995, "A minimal algorithm for the multiple-choice knapsack problem"). What is left
// is mostly two or three counts a job. Pure: no clock, no random source.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace mastic::schedule {

// The value of a count that a job cannot have (between 0 and its minimum).
inline constexpr double not_allowed = -std::numeric_limits<double>::infinity();

struct JobValues {
    int current = 0;            // nodes that it has; preferred among counts of equal value
    std::vector<double> value;  // of 0, 1, 2, ... nodes; finite or not_allowed; value[0] is finite
};

struct Allocation {
    std::vector<int> nodes;  // by job
    double value = 0;        // the sum over the jobs
    double bound = 0;        // no allocation has a larger value
    bool exact = true;       // false: the concave-hull solution, at most bound - value below the optimum
};

struct AllocatorLimits {
    std::size_t exact_cells =
        std::size_t{500} * 4'000;  // jobs x nodes; above, the concave-hull solution is taken
};

// Throws Error(usage) for values that break the rules above or nodes < 0.
Allocation allocate(std::span<const JobValues> jobs, int nodes, const AllocatorLimits& limits = {});

}  // namespace mastic::schedule
