// Running other programs, behind an interface so that pure code can be given recorded answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <mastic/core/duration.hpp>

namespace mastic {

struct CommandResult {
    int exit_code =
        0;  // 128 + N: ended by signal N; 127: not found; 126: not executable; 124: timed out and killed
    std::string output;
    std::string error;
};

using CommandRunner = std::function<CommandResult(const std::vector<std::string>& argv, Seconds timeout)>;

// Starts the program (looked up in PATH) without a shell, in its own process group, with standard input from
// /dev/null. Returns when it ends, even if a daemon that it left behind still holds its outputs. At the
// time-out the whole group is killed; what was printed until then is returned. Throws Error(environment) if
// no process can be made.
CommandResult run_command(const std::vector<std::string>& argv, Seconds timeout);

}  // namespace mastic
