// Random instances of the allocator's problem, as a fleet of trainings would give them.
#pragma once

#include <vector>

#include <mastic/core/random.hpp>
#include <mastic/schedule/allocator.hpp>

namespace mastic::schedule::test {

struct RandomShape {
    int jobs = 10;
    int nodes = 100;
    int largest = 64;  // nodes of a job
};

// Values of a horizon of 120 s: throughput curves that saturate, a third of them with dents (so not concave), minimum
// sizes of 1 to 8, and what a rescaling costs against the present size; about 80 % of the nodes are in use.
std::vector<JobValues> random_values(const RandomShape& shape, std::uint64_t seed);

// All combinations, for small instances.
double best_by_enumeration(const std::vector<JobValues>& jobs, int nodes);

}  // namespace mastic::schedule::test
