// What every command of mastic-rescale is given.
#pragma once

#include <string>
#include <vector>

#include <mastic/config/program.hpp>
#include <mastic/schedule/command/rescale_options.hpp>

namespace mastic::schedule {

struct CommandContext {
    const RescaleOptions& options;
    const config::Invocation& invocation;
    const config::Schema& schema;  // the options and where their values come from
    std::vector<std::string> arguments;  // as it was called
};

// Prints to standard output, throws Error, or returns the exit code.
int simulate_command(const CommandContext& context);  // LOG [OUT.html]
int view_command(const CommandContext& context);
int submit_command(const CommandContext& context);  // STATE_DIR FILE...
int status_command(const CommandContext& context);  // STATE_DIR [TRAINING]
int resize_command(const CommandContext& context);  // STATE_DIR TRAINING [MIN [MAX]]
int drain_command(const CommandContext& context);   // STATE_DIR NODES...
int stop_command(const CommandContext& context);    // STATE_DIR TRAINING...
int report_command(const CommandContext& context);  // STATE_DIR [OUT.html]
int serve_command(const CommandContext& context);   // STATE_DIR

}  // namespace mastic::schedule
