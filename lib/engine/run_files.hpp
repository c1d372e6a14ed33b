// What rank 0 keeps about a run in its directory: config.toml, metrics.jsonl, run.json.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <mastic/core/error.hpp>
#include <mastic/engine/front/command_context.hpp>
#include <mastic/engine/trainer.hpp>
#include <mastic/job/run_directory.hpp>
#include <mastic/report/metrics.hpp>
#include <mastic/report/progress.hpp>
#include <mastic/report/run_record.hpp>

namespace mastic::engine {

// Compares the stored configuration with the present one. Tells each change; throws Error(usage) for those that a resumed
// run must not have, or only with --fork.
void check_stored_config(const CommandContext& context, const job::RunDirectory& directory);

// `wanted`: "auto" or "always".
report::Progress::Options progress_options(const std::string& wanted);

class RunFiles {
  public:
    RunFiles(const job::RunDirectory& directory, const CommandContext& context, std::vector<std::string> hosts,
             std::uint64_t planned_samples);

    void store_config(const CommandContext& context);
    void started(const TrainState& state);
    report::MetricsWriter& metrics() { return metrics_; }

    // What the start before this one left in run.json.
    const std::vector<std::string>& earlier_checkpoints() const { return earlier_checkpoints_; }
    std::int64_t earlier_steps() const { return earlier_steps_; }

    // Ends run.json, and tells the user what came out and what to do next.
    void finished(const TrainResult& result, const TrainState& state, std::int64_t checkpoint_step);
    void failed(const Error& error);
    // Of an elastic run: who takes part from now on; the run goes on under another process.
    void members(std::vector<std::string> hosts);
    void handed_over(const TrainResult& result, const TrainState& state);

  private:
    void write();
    void note_checkpoints();

    job::RunDirectory directory_;
    report::MetricsWriter metrics_;
    report::RunRecord record_;
    std::vector<std::string> earlier_checkpoints_;
    std::int64_t earlier_steps_ = 0;
    bool limited_by_steps_ = false;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace mastic::engine
