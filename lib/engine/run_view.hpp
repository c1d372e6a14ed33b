// What a run directory tells of its run, for the commands that only look.
#pragma once

#include <string>

#include <mastic/report/post_mortem.hpp>
#include <mastic/report/run_status.hpp>

namespace mastic::engine {

// Throws Error(usage) if there is no such directory; errors of report::load_run.
report::RunView view_of_run(const std::string& path);

// The same with what the ranks left; without Slurm's record.
report::EndEvidence end_evidence(const std::string& path);

}  // namespace mastic::engine
