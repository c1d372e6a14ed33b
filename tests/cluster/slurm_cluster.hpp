// A real Slurm of several nodes for the tests of one program: tests/cluster/slurm-lab, started and ended.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <mastic/core/command.hpp>
#include <mastic/core/duration.hpp>

#include "support/temp_dir.hpp"

namespace mastic::test {

using Arguments = std::vector<std::string>;

struct ClusterOptions {
    int nodes = 4;  // n1, n2, ...
    int cpus = 4;   // that each node claims to have
    int gpus = 0;
    int requeue_grace_s = 0;  // GraceTime of the partitions `requeue` and `cancel`, whose jobs give way to
    int cancel_grace_s = 10;  // those of `normal`, the default
    Arguments settings = {};  // lines of slurm.conf: "KillWait=2"
};

class SlurmCluster {
  public:
    // Returns when all nodes are idle. Throws std::runtime_error if that does not come about.
    explicit SlurmCluster(const ClusterOptions& options = {});
    ~SlurmCluster();
    SlurmCluster(const SlurmCluster&) = delete;
    SlurmCluster& operator=(const SlurmCluster&) = delete;

    // Why this machine cannot have a cluster (not root, no Slurm, no namespaces); empty: it has one.
    const std::string& obstacle() const { return obstacle_; }

    // A command on the controller, or on a node: as mastic::run_command. Its processes are gone when it returns.
    CommandResult run(const Arguments& command, Seconds timeout = Seconds(60)) const;
    CommandResult run_on(const std::string& node, const Arguments& command,
                         Seconds timeout = Seconds(60)) const;
    CommandRunner runner(const std::string& node = "ctl") const;
    // The standard output of a command on the controller that must succeed; else fails the test.
    std::string output_of(const Arguments& command) const;

    // sbatch. `script` is the text of a batch script, "#!/bin/sh\n..."; its output goes to output_file(job).
    // Returns the job's number; empty, and the test failed, if Slurm refuses it.
    std::string submit(const std::string& script, const Arguments& options = {}) const;
    std::filesystem::path output_file(const std::string& job) const;
    std::string output(const std::string& job) const;

    // What `scontrol show job` says: "JobState" -> "RUNNING", "ExitCode" -> "75:0". Empty if Slurm knows no such job.
    std::map<std::string, std::string> show(const std::string& job) const;
    // Waits until the job is in one of the states and returns it, else fails the test and returns the last one.
    std::string wait_state(const std::string& job, const Arguments& states,
                           Seconds timeout = Seconds(60)) const;
    // The same for the end of the job, whatever it is: "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", ...
    std::string wait_end(const std::string& job, Seconds timeout = Seconds(60)) const;
    // Of the batch script of a job that has ended; 128 + N for signal N.
    int exit_code(const std::string& job) const;

    void node_down(const std::string& node);  // its power fails
    void node_up(const std::string& node);    // returns when it takes jobs again
    void cut(const std::string& node);        // its link no longer carries anything
    void heal(const std::string& node);

    // Cancels all jobs, brings back all nodes and waits until they are idle: between tests.
    void clear();

  private:
    void request(const std::string& what, const std::string& node) const;
    void wait_until_idle(const std::string& nodes) const;

    TempDir directory_;
    std::string obstacle_;
    std::vector<std::string> down_;
    std::vector<std::string> cut_;
};

// Calls `done` every 50 ms until it is true. False: not within the time-out.
bool wait_until(const std::function<bool()>& done, Seconds timeout);

// One cluster for all tests of a program:
//   ClusterEnvironment* const environment = ClusterEnvironment::add({.nodes = 4});
class ClusterEnvironment : public testing::Environment {
  public:
    static ClusterEnvironment* add(const ClusterOptions& options = {});
    void SetUp() override;  // without a cluster all tests are skipped, and say why
    void TearDown() override { cluster_.reset(); }

    SlurmCluster& cluster() { return *cluster_; }

  private:
    explicit ClusterEnvironment(ClusterOptions options) : options_(std::move(options)) {}

    ClusterOptions options_;
    std::unique_ptr<SlurmCluster> cluster_;
};

}  // namespace mastic::test
