// The command that starts a program on all nodes with a number of ranks on each device: srun's or mpiexec's. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mastic/core/environment.hpp>

namespace mastic::colocation {

struct JobShape {
    bool slurm = false;  // srun inside of the job; else mpiexec on this machine
    int nodes = 1;
    int cpus_per_node = 1;
    int devices_per_node = 1;
    std::string srun_mpi = "pmi2";
    std::string mpiexec = "mpiexec";
};

// By Slurm's variables, if there is a job. Throws Error(environment) for a damaged one.
JobShape job_shape(const Environment& environment, int devices, int cpus);

// All up to the program. srun binds nothing: mastic-mps knows which cores are near which device.
std::vector<std::string> start_words(const JobShape& shape, int ranks_per_device);

}  // namespace mastic::colocation
