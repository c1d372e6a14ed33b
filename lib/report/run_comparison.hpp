// `compare RUN_DIR...`: runs side by side.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <mastic/report/run_status.hpp>

namespace mastic::report {

struct ComparedRun {
    std::string name;  // how the user called it; the directory
    RunView run;
    std::map<std::string, std::string> config;  // "train.batch" -> "128"
};

// One line per run: state, last and best value of each quality metric of the last evaluation, losses, steps,
// time, median samples/s, ranks. Below it one line per configuration key whose values differ, one column per
// run
// ("-": not set). Lines end with a line break. Unknown values are "-".
std::string compare_table(const std::vector<ComparedRun>& runs);

}  // namespace mastic::report
