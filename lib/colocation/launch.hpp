// From the launcher to the program behind it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <mastic/colocation/share.hpp>
#include <mastic/core/error.hpp>

namespace mastic::colocation {

// The file that `word` names, as execvp would find it. Throws Error(code), before anything was started.
std::filesystem::path find_program(const std::string& word, ExitCode code = ExitCode::usage);

// Of this process; MASTIC_MPS_ variables are for the launcher alone and go.
void apply(const EnvironmentChange& change);

// This process becomes the program: its signals, exit code and process id need no help. Throws Error(environment).
[[noreturn]] void become_program(const std::filesystem::path& program, const std::vector<std::string>& words);

// Runs the program as a child, calls `afterwards`, and ends as the program did: with its code, or by its signal. Signals to
// this process alone are passed on; what the child gets too (from the terminal, from Slurm) is not given twice. If this process is
// killed, so is the program.
[[noreturn]] void supervise_program(const std::filesystem::path& program,
                                    const std::vector<std::string>& words,
                                    const std::function<void()>& afterwards);

}  // namespace mastic::colocation
