// --print-sbatch, --submit and --print-mpi, the same in all programs.
#pragma once

#include <filesystem>
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
    std::vector<std::string> arguments;  // the program's, as it was called
    std::string mpi_library;             // the whole text of MPI_Get_library_version
    std::filesystem::path script;        // where --submit writes the script
    std::string next_steps;              // lines after "submitted job N": how to watch it; JOB stands for N
};

// What the program prints in place of its work, if one of the switches is set. Throws Error(usage) for more than the
// cluster has, Error(environment) if Slurm refuses, Error(io) for the script's file.
std::optional<std::string> answer_batch_call(const BatchCall& call, const Environment& environment,
                                             const CommandRunner& run);

}  // namespace mastic::job
