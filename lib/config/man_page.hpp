// The manual page (section 1), written for the `man` macros of roff.
#pragma once

#include <string>

#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>

namespace mastic::config {

std::string man_page(const ProgramInfo& program, const Schema& schema);

}  // namespace mastic::config
