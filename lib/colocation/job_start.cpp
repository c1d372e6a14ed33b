#include <mastic/colocation/job_start.hpp>

#include <algorithm>

#include <mastic/config/value.hpp>
#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

int count(const Environment& environment, const std::string& name, int fallback) {
    const std::string text = environment(name).value_or("");
    if (text.empty()) {
        return fallback;
    }
    try {
        return std::max(1, config::Codec<int>::from_text(text));
    } catch (const Error& error) {
        throw Error(ExitCode::environment, name + ": " + error.what());
    }
}

}  // namespace

JobShape job_shape(const Environment& environment, int devices, int cpus) {
    JobShape shape;
    shape.slurm = environment("SLURM_JOB_ID").has_value();
    shape.nodes = shape.slurm ? count(environment, "SLURM_JOB_NUM_NODES", 1) : 1;
    shape.cpus_per_node = shape.slurm ? count(environment, "SLURM_CPUS_ON_NODE", cpus) : cpus;
    shape.devices_per_node = devices;
    return shape;
}

std::vector<std::string> start_words(const JobShape& shape, int ranks_per_device) {
    const int ranks = ranks_per_device * shape.devices_per_node;
    if (!shape.slurm) {
        return {shape.mpiexec, "-n", std::to_string(ranks)};
    }
    std::vector<std::string> words = {
        "srun",
        "--mpi=" + shape.srun_mpi,
        "--export=ALL",
        "--kill-on-bad-exit=1",
        "--nodes=" + std::to_string(shape.nodes),
        "--ntasks=" + std::to_string(ranks * shape.nodes),
        "--ntasks-per-node=" + std::to_string(ranks),
        "--cpus-per-task=" + std::to_string(std::max(1, shape.cpus_per_node / ranks)),
        "--cpu-bind=none"};
    if (ranks > shape.cpus_per_node) {
        words.push_back("--overcommit");
    }
    return words;
}

}  // namespace mastic::colocation
