// The commands of mastic-train that only look at runs, or end their jobs; they start no MPI. They print to standard output,
// throw Error, or return the exit code.
#pragma once

#include <mastic/engine/front/command_context.hpp>

namespace mastic::engine {

int status_command(const CommandContext& context);   // RUN_DIR
int compare_command(const CommandContext& context);  // RUN_DIR...
int report_command(const CommandContext& context);   // RUN_DIR [FILE.html]
int finish_command(const CommandContext& context);   // RUN_DIR [CODE]
int why_command(const CommandContext& context);      // RUN_DIR|JOBID
int settle_command(const CommandContext& context);   // CODE TIME SCRIPT [ARGUMENT...]
int verify_command(const CommandContext& context);   // checkpoint.verify
int models_command(const CommandContext& context);

}  // namespace mastic::engine
