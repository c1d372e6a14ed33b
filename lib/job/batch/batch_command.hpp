// --print-sbatch, --submit and --print-mpi, the same in all programs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mastic/core/command.hpp>
#include <mastic/core/environment.hpp>
#include <mastic/job/batch/batch_script.hpp>

namespace mastic::job {

struct BatchCall {
    BatchWork work = BatchWork::train;
    SlurmOptions options;
    std::vector<std::string> arguments;  // the program's
    std::function<std::string()> mpi_library;  // the whole text of MPI_Get_library_version; empty: options.mpi says it
    std::filesystem::path script;        // where --submit writes the script
    bool dry_run = false;                // --submit only shows the script
    std::string next_steps;              // lines after "submitted job N": how to watch it; JOB stands for N
    // Of mps and share.
    RankSharing sharing;
    std::int64_t ranks_per_gpu = 0;  // then a node has that many for each of its GPUs; 0: slurm.ranks_per_node
};

// The words of a call without the switches that asked for a script, or only for a look at it.
std::vector<std::string> without_batch_switches(std::vector<std::string> words);

bool asks_for_batch_script(const SlurmOptions& options);

// Throws Error(usage) if a script is asked for with a command of the program that has none: another one than `for_command`,
// whose name may be left out. `place`: where the switches belong, for people.
void refuse_script_of_other_commands(const SlurmOptions& options, const std::string& command,
                                     const std::string& for_command, const std::string& place);

// What the program prints in place of its work, if one of the switches is set. Throws Error(usage) for more than the
// cluster has, Error(environment) if Slurm refuses, Error(io) for the script's file.
std::optional<std::string> answer_batch_call(const BatchCall& call, const Environment& environment,
                                             const CommandRunner& run);

}  // namespace mastic::job
