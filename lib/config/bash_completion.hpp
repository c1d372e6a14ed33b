// Completion of commands, flags, choices and file names for bash (4.4 or newer, no other package needed).
#pragma once

#include <string>

#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>

namespace mastic::config {

// A script to be sourced, or installed as share/bash-completion/completions/PROGRAM. It completes `--flag
// VALUE` and
// `--flag=VALUE`.
std::string bash_completion(const ProgramInfo& program, const Schema& schema);

}  // namespace mastic::config
