// Proof that the MPI library reads a selection file: this program, started anew, with the file and with a canary.
#pragma once

#include <filesystem>
#include <string>

namespace mastic::tuning {

// Starts `mastic-tune probe` twice as a process of its own: with the file it must start MPI, with a file that names an
// algorithm which does not exist it must fail. Returns what was seen. Throws Error(environment) if one of them is not
// so.
std::string prove_selection(const std::filesystem::path& file, const std::string& selection);

}  // namespace mastic::tuning
