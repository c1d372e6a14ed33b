#include <mastic/job/batch/slurm_options.hpp>

namespace mastic::job {
namespace {

using config::OnResume;

// Each goes into a line of the script.
std::string one_line(const std::string& text) {
    return text.find_first_of("\r\n") == text.npos ? "" : "a line of a batch script cannot hold a line break";
}

std::string one_word(const std::string& text) {
    return text.find_first_of(" \t\r\n\"'\\#") == text.npos ? "" : "'" + text + "' is not a single word";
}

std::string sbatch_options(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        if (!line.starts_with('-')) {
            return "'" + line + "' is not an option of sbatch: it does not begin with '-'";
        }
        if (const std::string problem = one_line(line); !problem.empty()) {
            return problem;
        }
    }
    return "";
}

}  // namespace

void declare_slurm_options(config::Schema& schema, SlurmOptions& options) {
    schema.section("slurm", "What the batch script of --print-sbatch and --submit asks Slurm for.");
    schema.option("slurm.nodes", options.nodes, "nodes of the job; 0: four, or all that the partition has")
        .at_least(0)
        .on_resume(OnResume::ignore);
    schema.option("slurm.ranks_per_node", options.ranks_per_node, "ranks on each node").at_least(1)
        .on_resume(OnResume::ignore);
    schema
        .option("slurm.cpus_per_rank", options.cpus_per_rank,
                "cores of a rank; 0: the ranks share what the job has on their node")
        .at_least(0)
        .on_resume(OnResume::ignore);
    schema.option("slurm.gpus_per_node", options.gpus_per_node, "GPUs on each node").at_least(0)
        .on_resume(OnResume::ignore);
    schema.option("slurm.exclusive", options.exclusive, "no other jobs on these nodes")
        .on_resume(OnResume::ignore);
    schema
        .option("slurm.time", options.time,
                "time limit of a job, cut to the partition's; a run that needs longer goes on in the next "
                "job; 0: the "
                "partition's default")
        .at_least(Seconds{0})
        .on_resume(OnResume::ignore);
    schema.option("slurm.partition", options.partition, "partition; empty: the cluster's default")
        .check(one_word)
        .on_resume(OnResume::ignore);
    schema.option("slurm.account", options.account, "account; empty: yours").check(one_word)
        .on_resume(OnResume::ignore);
    schema.option("slurm.job_name", options.job_name, "name of the job; empty: the program's")
        .check(one_word)
        .on_resume(OnResume::ignore);
    schema
        .option("slurm.mpi", options.mpi,
                "type of srun --mpi; auto: the one that the program's MPI library speaks")
        .check(one_word)
        .advanced()
        .on_resume(OnResume::ignore);
    schema
        .option("slurm.max_restarts", options.max_restarts,
                "how often a job that stopped with code 75 is submitted again without a new checkpoint in "
                "between")
        .at_least(0)
        .on_resume(OnResume::ignore);
    schema
        .option("slurm.extra", options.extra,
                "further options of sbatch, one for each line: --constraint=icelake")
        .check(sbatch_options)
        .on_resume(OnResume::ignore);
    schema.flag("print-sbatch", options.print_sbatch, "print a batch script for this cluster, and stop");
    schema.flag("submit", options.submit, "write this script, send it to Slurm, and stop");
}

void declare_print_mpi(config::Schema& schema, SlurmOptions& options) {
    schema.flag("print-mpi", options.print_mpi,
                "print the type for srun --mpi that this program needs, and stop");
}

}  // namespace mastic::job
