// Every option of mastic-mps.
#pragma once

#include <string>
#include <vector>

#include <mastic/colocation/share.hpp>
#include <mastic/config/schema.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/job/batch/slurm_options.hpp>

namespace mastic::colocation {

struct MpsOptions {
    MpsOptions() { slurm.nodes = 1; }

    std::string ranks_per_gpu = "even";  // or "auto", or a number
    std::string thread_percentage = "auto";
    std::string memory_limit = "none";
    std::string mps = "auto";
    std::string device = "gpu";
    int cores_per_device = 0;  // 0: a NUMA node
    bool bind = true;
    int ranks = 0;  // of this node, for plan; 0: as the launcher says, else what fits --ranks-per-gpu

    int largest = 8;
    double least_gain = 0.03;
    int trial_steps = 60;
    Seconds trial_time{300};
    std::vector<std::string> trial_arguments{"--run.dir={dir}",
                                             "--run.resume=never",
                                             "--train.max_steps={steps}",
                                             "--train.epochs=1000000",
                                             "--train.eval_every=0",
                                             "--checkpoint.every=0",
                                             "--checkpoint.every_steps=0",
                                             "--output.log_every=1",
                                             "--output.progress=never",
                                             "--job.time_limit={time}"};
    std::string trial_directory = ".";
    std::string cache;
    bool again = false;
    std::string srun_mpi = "auto";
    std::string mpiexec;  // empty: looked for

    job::SlurmOptions slurm;  // of --print-sbatch and --submit

    bool chooses() const { return ranks_per_gpu == "auto"; }
    int ranks_per_device() const;  // 0: even
    bool uses_gpus() const { return device == "gpu"; }
};

void declare_mps_options(config::Schema& schema, MpsOptions& options);

}  // namespace mastic::colocation
