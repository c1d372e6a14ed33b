// All that the directory of a run tells, with who holds it and its newest checkpoint.
#pragma once

#include <string>

#include <mastic/report/post_mortem.hpp>

namespace mastic::engine {

// Throws Error(usage) if there is no such directory; else as report::load_run.
report::RunView view_of(const std::string& path);

// The same with what the ranks left; without Slurm's record.
report::EndEvidence end_evidence(const std::string& path);

}  // namespace mastic::engine
