// The allocator's problem as a mixed-integer program for GLPK: one binary variable per job and allowed count.
#pragma once

#include <vector>

#include <mastic/schedule/allocator.hpp>

namespace mastic::schedule::test {

struct MilpSolution {
    bool optimal = false;  // proven within the time limit
    double value = 0;
};

MilpSolution solve_milp(const std::vector<JobValues>& jobs, int nodes, double time_limit_s = 60);

}  // namespace mastic::schedule::test
