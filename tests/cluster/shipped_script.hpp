// A batch script of slurm/, submitted as a user does it who has mastic-train in PATH.
#pragma once

#include <filesystem>
#include <string>

#include "cluster/train_job.hpp"

namespace mastic::test {

class ShippedScript {
  public:
    // The logs of the jobs lie in `logs`.
    ShippedScript(SlurmCluster& cluster, std::filesystem::path script, std::filesystem::path logs);

    // Programs of this directory come before those of the build.
    void prefer(const std::filesystem::path& programs) { programs_ = programs; }

    // The script's srun starts its step only when Slurm has told the job to end for another one.
    void start_the_step_too_late();

    // Returns the job's number.
    std::string start(const Arguments& arguments, const Arguments& options = {}) const;
    // What it has written so far: of a running job it is behind what the job has done.
    std::string log(const std::string& job) const;
    // Waits until the log has these words, else fails the test.
    void expect_told(const std::string& job, const std::string& words) const;
    // The job that goes on after `job`, which is the only one in the queue then.
    std::string successor_of(const std::string& job) const;

  private:
    SlurmCluster& cluster_;
    std::filesystem::path script_;
    std::filesystem::path logs_;
    std::filesystem::path programs_;
};

// The numbers of all jobs that wait or run.
Arguments queue(const SlurmCluster& cluster);

}  // namespace mastic::test
