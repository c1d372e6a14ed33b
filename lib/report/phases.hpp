// Where the time of a step goes.
#pragma once

#include <string>
#include <vector>

#include <mastic/report/metrics.hpp>

namespace mastic::report {

// One part of all steps, in milliseconds, in the order of the steps; not a number where it was not measured.
struct Phase {
    std::string name;
    std::vector<double> ms;
};

// Forward, backward, exposed communication, optimizer, checkpoint stall, and what they leave of the step
// ("data and other"). Phases that no step measured are left out.
std::vector<Phase> phases_of(const std::vector<StepRecord>& steps);

// Exposed communication / step time over all steps that measured both; not a number if none did.
double exposed_share(const std::vector<StepRecord>& steps);

// Means of `count` neighbouring groups of values of about equal size (fewer groups if there are fewer
// values).
std::vector<double> group_means(const std::vector<double>& values, std::size_t count);

}  // namespace mastic::report
