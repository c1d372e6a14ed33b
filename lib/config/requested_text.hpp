// What a call that only asks for a text gets.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>
#include <mastic/core/version.hpp>

namespace mastic::config {

// The text for --help, --help-all, --version, --generate or --print-config; nothing if the program is to run. `libraries` is
// asked for --version only.
std::optional<std::string> requested_text(const ProgramInfo& program, const Schema& schema,
                                          const Invocation& invocation,
                                          const std::function<LibraryVersions()>& libraries);

}  // namespace mastic::config
