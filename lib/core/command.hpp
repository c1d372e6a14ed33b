// Running other programs, behind an interface so that pure code can be given recorded answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>

namespace mastic {

struct CommandResult {
    int exit_code =
        0;  // 128 + N: ended by signal N; 127: not found; 126: not executable; 124: timed out and killed;
            // 137: by signal 9, or killed because it printed too much: then the first line of `error` says so
    std::string output;
    std::string error;
};

using CommandRunner = std::function<CommandResult(const std::vector<std::string>& argv, Seconds timeout)>;

// Of each of its outputs. A command that prints more has gone wrong, and would fill the memory.
inline constexpr Bytes longest_output{std::uint64_t{256} << 20};

// Starts the program (looked up in PATH) without a shell, in its own process group, with standard input from
// /dev/null. Returns when it ends, even if a daemon that it left behind still holds its outputs. At the
// time-out the whole group is killed, and so it is when an output becomes longer than longest_output; what was
// printed until then is returned. Throws Error(environment) if no process can be made.
CommandResult run_command(const std::vector<std::string>& argv, Seconds timeout);
// The same with another limit of each output.
CommandResult run_command_within(const std::vector<std::string>& argv, Seconds timeout, Bytes most);

}  // namespace mastic
