// What all commands need to know of this node.
#include <algorithm>
#include <cstdlib>

#include <sched.h>
#include <unistd.h>

#include <mastic/colocation/command/command_context.hpp>
#include <mastic/colocation/grant.hpp>
#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

bool same_mask_as_parent() {
    cpu_set_t own;
    cpu_set_t parents;
    return sched_getaffinity(0, sizeof own, &own) == 0 &&
           sched_getaffinity(getppid(), sizeof parents, &parents) == 0 && CPU_EQUAL(&own, &parents);
}

}  // namespace

Sharers sharers_of(const CommandContext& context, std::size_t devices) {
    const auto granted = static_cast<int>(devices);
    const job::JobContext& job = context.job;
    if (context.options.ranks > 0) {
        return {job.local_rank, context.options.ranks};
    }
    if (job.launcher == job::Launcher::none &&
        context.program.empty()) {  // by hand: the ranks that would fit
        return {0, std::max(1, context.options.ranks_per_device()) * granted};
    }
    const std::string on_node = context.environment("SLURM_GPUS_ON_NODE").value_or("");
    const int all =
        context.options.uses_gpus() && job.launcher == job::Launcher::slurm ? std::atoi(on_node.c_str()) : 0;
    if (all <= granted) {
        return {job.local_rank, job.local_size};
    }
    const int size = std::max(1, (job.local_size * granted + all - 1) / all);  // srun --gpus-per-task
    return {job.local_rank % size, size};
}

job::CpuView observe_own_cpus() {
    job::CpuView cpus = job::observe_cpus();
    cpus.bound_is_shared = same_mask_as_parent();
    return cpus;
}

NodeDevices find_devices(const MpsOptions& options, const Environment& environment,
                         const job::CpuView& cpus) {
    NodeDevices node;
    if (!options.uses_gpus()) {
        node.devices = core_groups(job::common_cpus(cpus), options.cores_per_device);
        node.source = "the cores of this job";
        return node;
    }
    node.nvml.emplace(Nvml::open(environment));
    Grant grant = granted_devices(environment, node.nvml->devices());
    node.devices = std::move(grant.devices);
    node.source = std::move(grant.source);
    node.notes = std::move(grant.notes);
    return node;
}

Placement place(const CommandContext& context, const NodeDevices& node, const job::CpuView& cpus) {
    return place_ranks({sharers_of(context, node.devices.size()).size, context.options.ranks_per_device(),
                        node.devices, cpus});
}

bool wants_mps(const MpsOptions& options, const Placement& placement) {
    const bool several =
        std::ranges::any_of(placement.ranks, [](const RankPlace& rank) { return rank.sharers > 1; });
    return options.uses_gpus() && (options.mps == "on" || (options.mps == "auto" && several));
}

}  // namespace mastic::colocation
