// `mastic-train report RUN_DIR`: what a training did, as one page.
#pragma once

#include <string>

#include <mastic/report/run_status.hpp>

namespace mastic::report {

// A self-contained HTML page: state and tiles, curves with checkpoints and restarts marked, a table of where
// the time went, the run's facts, its history, the resolved configuration (TOML text, may be empty). Works
// for a run without evaluations, without run.json, still running, or with any number of steps (100,000 give
// well under 1 MB).
std::string training_report(const RunView& run, const std::string& resolved_config);

}  // namespace mastic::report
