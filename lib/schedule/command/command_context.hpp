// What every command of mastic-rescale is given.
#pragma once

#include <mastic/config/program.hpp>
#include <mastic/schedule/command/rescale_options.hpp>

namespace mastic::schedule {

struct CommandContext {
    const RescaleOptions& options;
    const config::Invocation& invocation;
};

// Prints to standard output, throws Error, or returns the exit code.
int simulate_command(const CommandContext& context);  // LOG [OUT.html]
int view_command(const CommandContext& context);

}  // namespace mastic::schedule
