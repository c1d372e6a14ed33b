#include <map>

#include <gtest/gtest.h>

#include <mastic/colocation/job_start.hpp>
#include <mastic/config/text.hpp>

#include "support/expect_error.hpp"

namespace mastic::colocation {
namespace {

Environment of(const std::map<std::string, std::string>& variables) {
    return [variables](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

TEST(JobStart, UsesMpiexecOutsideOfSlurm) {
    JobShape shape = job_shape(of({}), 2, 8);
    shape.mpiexec = "/usr/bin/mpiexec.mpich";
    EXPECT_EQ(config::join(start_words(shape, 4), " "), "/usr/bin/mpiexec.mpich -n 8");
}

TEST(JobStart, UsesSrunOnAllNodesOfAJob) {
    const JobShape shape = job_shape(
        of({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "3"}, {"SLURM_CPUS_ON_NODE", "32"}}), 2, 64);
    EXPECT_EQ(config::join(start_words(shape, 4), " "),
              "srun --mpi=pmi2 --export=ALL --kill-on-bad-exit=1 --nodes=3 --ntasks=24 --ntasks-per-node=8 "
              "--cpus-per-task=4 --cpu-bind=none");
    EXPECT_EQ(start_words(shape, 32).back(), "--overcommit");
    test::expect_error(ExitCode::environment, "SLURM_JOB_NUM_NODES", [] {
        job_shape(of({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NUM_NODES", "many"}}), 1, 1);
    });
}

}  // namespace
}  // namespace mastic::colocation
