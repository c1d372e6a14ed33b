// Which trainings of sweeps go on, from the records of all trials.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <mastic/schedule/manager/state_directory.hpp>
#include <mastic/schedule/manager/sweep.hpp>

namespace mastic::schedule {

// By training; those that are in no sweep, or of one that keeps all, are not in it. Reads metrics only where a rung is decided;
// a trial whose metrics cannot be read has no score.
std::map<std::string, Verdict> sweep_verdicts(const std::vector<Training>& trainings);

}  // namespace mastic::schedule
