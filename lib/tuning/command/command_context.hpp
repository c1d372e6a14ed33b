// What every command of mastic-tune is given.
#pragma once

#include <mastic/config/program.hpp>
#include <mastic/job/context.hpp>
#include <mastic/tuning/command/tune_options.hpp>

namespace mastic::tuning {

struct CommandContext {
    const TuneOptions& options;
    const config::Invocation& invocation;
    const job::JobContext& job;
};

// Commands that measure, on all ranks that mpiexec or srun started. They do not return: MPI ends with the process.
[[noreturn]] void run_command(const CommandContext& context);
[[noreturn]] void verify_command(const CommandContext& context);  // TABLE
[[noreturn]] void export_command(const CommandContext& context);  // TABLE [OUT]

// Commands that look at a table; they start no MPI. They print to standard output, throw Error, or return the exit
// code.
int show_command(const CommandContext& context);    // TABLE
int report_command(const CommandContext& context);  // TABLE [OUT.html]

}  // namespace mastic::tuning
