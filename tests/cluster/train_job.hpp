// mastic-train as a step of a job, on the small task of tests/engine.
#pragma once

#include <filesystem>
#include <string>

#include "cluster/slurm_cluster.hpp"
#include "engine/train_program.hpp"

namespace mastic::test {

// srun, its options, mastic-train and its arguments. A rank that ends badly ends the step.
Arguments train_step(const Arguments& srun_options, const Arguments& train_arguments);

// A batch script that is this step only, and ends with its exit code.
std::string batch_script(const Arguments& step);

// More steps than any test waits for.
Arguments endless_task(const std::filesystem::path& run_dir, Arguments more = {});

// Waits until the run has logged some steps; fails the test if it does not.
void wait_until_training(const std::filesystem::path& run_dir);

// `mastic-train --checkpoint.verify` passes.
void expect_valid_checkpoints(const std::filesystem::path& run_dir);

// Processes of this machine that work in the run directory, on whatever node. Whoever waits for them has a bound.
std::vector<pid_t> processes_of(const std::filesystem::path& run_dir);

}  // namespace mastic::test
