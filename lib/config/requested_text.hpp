// What a call that only asks for a text gets.
#pragma once

#include <optional>
#include <string>

#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>

namespace mastic::config {

// The text for --help, --help-all, --generate or --print-config; nothing if the program is to run (or to answer
// --version, which knows more than this folder does).
std::optional<std::string> requested_text(const ProgramInfo& program, const Schema& schema,
                                          const Invocation& invocation);

}  // namespace mastic::config
