// The part of a command line that is not options: the command, its arguments, the standard flags.
#pragma once

#include <mastic/config/command_line.hpp>
#include <mastic/config/problems.hpp>
#include <mastic/config/program.hpp>

namespace mastic::config {

Invocation read_invocation(const ProgramInfo& program, const CommandLine& line, Problems& problems);

// Are the arguments as many as the command takes?
void check_arguments(const ProgramInfo& program, const Invocation& invocation, Problems& problems);

}  // namespace mastic::config
