// The real mastic-train under the real mpiexec, on a small synthetic task that takes a second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <mastic/checkpoint/state.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/report/metrics.hpp>
#include <mastic/report/run_record.hpp>

namespace mastic::test {

using Arguments = std::vector<std::string>;

struct ProgramResult {
    int exit_code = 0;
    std::string text;  // standard output and error
};

// A task of 64 samples, 4 classes, an mlp; batch 16; no checkpoint by time. `more` wins over these.
Arguments small_task(const std::filesystem::path& run_dir, const Arguments& more = {});
// The command of a member of an elastic run on it.
Arguments member_command(const std::filesystem::path& run_dir, const Arguments& more = {});

// Killed after the time-out, which is a failure of the test.
ProgramResult run_program(const Arguments& arguments, Seconds timeout = Seconds(60));
ProgramResult run_ranks(int ranks, const Arguments& arguments, Seconds timeout = Seconds(60));

// The same for another trainer.
ProgramResult run_ranks_of(const std::string& trainer, int ranks, const Arguments& arguments, Seconds timeout = Seconds(60));

// A run that is expected to end well: fails the test otherwise.
void train(int ranks, const Arguments& arguments);

report::Metrics metrics_of(const std::filesystem::path& run_dir);
report::RunRecord record_of(const std::filesystem::path& run_dir);
checkpoint::State newest_state(const std::filesystem::path& run_dir);
std::int64_t step_of(const checkpoint::State& state);
std::vector<double> losses_of(const std::filesystem::path& run_dir);

// Every tensor and every fact about the position, bit for bit.
void expect_identical(const checkpoint::State& a, const checkpoint::State& b);

// float64 everywhere, and the same up to what another order of adding does.
void expect_nearly_identical(const checkpoint::State& a, const checkpoint::State& b);

// metrics.jsonl holds steps 1 to `steps`, each once with its `batch` samples: nothing trained twice, nothing left out.
void expect_every_step_once(const std::filesystem::path& run_dir, std::int64_t steps, std::int64_t batch);

}  // namespace mastic::test
