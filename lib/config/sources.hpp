// The three places that values come from, in ascending precedence. Each mistake goes into `problems` with its
// place.
#pragma once

#include <string>

#include <mastic/config/command_line.hpp>
#include <mastic/config/problems.hpp>
#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>
#include <mastic/config/variables.hpp>

namespace mastic::config {

// That the file cannot be read or is not TOML is a mistake too.
void apply_file(Schema& schema, const std::string& path, Problems& problems);

// Also reports variables that look like an option (MASTIC_SECTION_...) and are none.
void apply_environment(const ProgramInfo& program, Schema& schema, const Variables& variables,
                       Problems& problems);

void apply_flags(Schema& schema, const CommandLine& line, Problems& problems);

}  // namespace mastic::config
