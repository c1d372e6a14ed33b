// What every command of mastic-train is given.
#pragma once

#include <string>
#include <vector>

#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>
#include <mastic/engine/train_options.hpp>
#include <mastic/job/blas_core.hpp>
#include <mastic/job/context.hpp>

namespace mastic::engine {

struct CommandContext {
    const TrainOptions& options;
    const config::Schema& schema;
    const config::Invocation& invocation;
    const job::JobContext& job;
    const job::BlasReport& blas;
    std::vector<std::string> command_line;
};

// Commands that look at run directories; they start no MPI. They print to standard output, throw Error, or return the
// exit code.
int status_command(const CommandContext& context);   // RUN_DIR
int compare_command(const CommandContext& context);  // RUN_DIR...
int report_command(const CommandContext& context);   // RUN_DIR [FILE.html]
int finish_command(const CommandContext& context);   // RUN_DIR [CODE]
int why_command(const CommandContext& context);      // RUN_DIR|JOBID
int settle_command(const CommandContext& context);   // CODE TIME SCRIPT [ARGUMENT...]
int verify_command(const CommandContext& context);   // checkpoint.verify
int models_command(const CommandContext& context);

// Commands that use the network of a run, in one process.
int evaluate_command(const CommandContext& context);  // RUN_DIR
int predict_command(const CommandContext& context);   // RUN_DIR INPUTS OUT.csv|OUT.h5
int export_command(const CommandContext& context);    // RUN_DIR OUT.pt|OUT.safetensors

int elastic_command(const CommandContext& context);  // elastic.join

// The training itself. Does not return: MPI ends with the process.
[[noreturn]] void train_command(const CommandContext& context);

}  // namespace mastic::engine
