// Who this process is in its job, as the launcher says it in the environment. For use before MPI_Init (logs,
// choice of threads, checks); afterwards comm/mpi knows the truth.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/environment.hpp>
#include <mastic/job/pmix_client.hpp>

namespace mastic::job {

// slurm: a task of a step (srun); hydra: MPICH's mpiexec, also inside a Slurm job; pmix: another launcher that speaks PMIx
// (Open MPI's mpirun, prterun); none: started by hand.
enum class Launcher { none, slurm, hydra, pmix };
const char* to_string(Launcher launcher);

struct JobContext {
    int rank = 0;
    int world_size = 1;
    int local_rank = 0;
    int local_size = 1;
    int node_index = 0;
    int node_count = 1;
    std::string host;
    Launcher launcher = Launcher::none;

    std::string slurm_job_id;  // empty outside of Slurm
    std::string slurm_job_name;
    int restart_count = 0;  // how often Slurm has requeued the job
    int slurm_tasks =
        0;  // tasks of the step, or of the allocation outside of a step; 0: unknown or not in Slurm
};

// Throws Error(environment), naming the variable, if a launcher's variable is not the number it should be.
JobContext read_job_context(const Environment& environment, const std::string& host);
// The same and, where the variables name no launcher, what PMIx says. Asks the launcher. Throws Error(environment).
JobContext find_job_context(const Environment& environment, const std::string& host);
void take_place(JobContext& context, const PmixPlace& place);

// Slurm's run-length form of tasks or CPUs per node: "2(x3),1" -> 2 2 2 1. Throws Error(environment).
std::vector<int> expand_tasks_per_node(std::string_view text);

// A launcher started several tasks but each is an MPI world of its own (it spoke another PMI than the MPI library): throws
// Error(environment) naming what to start with: `srun --mpi=TYPE`, TYPE being the one that the library needs ("pmi2").
// Silent under hydra, whose user chose the size.
void check_singleton(int mpi_size, const JobContext& context, const std::string& srun_mpi);

}  // namespace mastic::job
