// What every command of mastic-mps is given, and what several of them do.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <mastic/colocation/command/mps_options.hpp>
#include <mastic/colocation/nvml.hpp>
#include <mastic/colocation/placement.hpp>
#include <mastic/config/program.hpp>
#include <mastic/job/batch/batch_command.hpp>
#include <mastic/job/context.hpp>

namespace mastic::colocation {

struct CommandContext {
    const MpsOptions& options;
    const config::Invocation& invocation;
    std::vector<std::string> program;  // PROGRAM and its arguments
    job::JobContext job;
    Environment environment;
};

// Print to standard output, throw Error, or return the exit code.
int launch_command(const CommandContext& context);  // becomes the program
int auto_command(const CommandContext& context, bool start);
int plan_command(const CommandContext& context);
int status_command(const CommandContext& context);
int clean_command(const CommandContext& context);

// Of --print-sbatch and --submit: a batch job that starts the program with this program in front. `own`: the words before --.
job::BatchCall batch_call(const CommandContext& context, const std::vector<std::string>& own);

// `wanted`; "auto": what PROGRAM --print-mpi says, since the program knows which type its MPI library speaks, else pmi2.
std::string find_srun_mpi(const std::string& wanted, const std::filesystem::path& program);

// The devices of this job on this node.
struct NodeDevices {
    std::optional<Nvml> nvml;  // of GPUs
    std::vector<Device> devices;
    std::string source;
    std::vector<std::string> notes;
};
NodeDevices find_devices(const MpsOptions& options, const Environment& environment, const job::CpuView& cpus);

// The cores of this process. A mask that it has from its parent is the node's share, not its own.
job::CpuView observe_own_cpus();

// This rank among those that share `devices` with it: all of the node, unless the launcher gave each rank devices of its own.
struct Sharers {
    int rank = 0;
    int size = 1;
};
Sharers sharers_of(const CommandContext& context, std::size_t devices);

Placement place(const CommandContext& context, const NodeDevices& node, const job::CpuView& cpus);

bool wants_mps(const MpsOptions& options, const Placement& placement);

// As a table, and as JSON.
std::string placement_text(const CommandContext& context, const NodeDevices& node,
                           const Placement& placement);
std::string placement_json(const CommandContext& context, const NodeDevices& node,
                           const Placement& placement);

}  // namespace mastic::colocation
