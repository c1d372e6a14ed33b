// The section [slurm]: how a program's batch script asks for nodes, and what is done with the script. The same in all
// programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mastic/config/schema.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::job {

constexpr std::int64_t all_gpus = -1;

struct SlurmOptions {
    std::int64_t nodes = 0;  // 0: four, or all that the partition has
    std::int64_t ranks_per_node = 1;
    std::int64_t cpus_per_rank = 0;  // 0: nothing is asked; the ranks share what the job has on a node
    std::int64_t gpus_per_node = 0;  // all_gpus: as many as the partition's nodes have, but one at least
    bool exclusive = true;
    Seconds time{3600};
    std::string partition;  // empty: the cluster's default
    std::string account;    // empty: the user's default
    std::string job_name;   // empty: the program's name
    std::string mpi = "auto";
    std::int64_t max_restarts = 3;
    std::vector<std::string> extra;  // further options of sbatch

    // Switches of the command line.
    bool print_sbatch = false;
    bool submit = false;
    bool print_mpi = false;
};

// `options` must outlive the schema.
void declare_slurm_options(config::Schema& schema, SlurmOptions& options);
void declare_print_mpi(config::Schema& schema, SlurmOptions& options);  // of programs that speak MPI themselves

}  // namespace mastic::job
