// The commands of mastic-train that need a network. They print to standard output, throw Error, or return the exit code.
#pragma once

#include <mastic/engine/front/command_context.hpp>

namespace mastic::engine {

// In one process, with the network of a run.
int evaluate_command(const CommandContext& context);  // RUN_DIR
int predict_command(const CommandContext& context);   // RUN_DIR INPUTS OUT.csv|OUT.h5
int export_command(const CommandContext& context);    // RUN_DIR OUT.pt|OUT.safetensors

int elastic_command(const CommandContext& context);  // elastic.join

// The training itself. Does not return: MPI ends with the process.
[[noreturn]] void train_command(const CommandContext& context);

}  // namespace mastic::engine
