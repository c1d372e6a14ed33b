// What is known of a run from its directory, and `status RUN_DIR` for people.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <mastic/report/metrics.hpp>
#include <mastic/report/run_record.hpp>

namespace mastic::report {

enum class RunState {
    empty,     // no trace of a run yet
    running,   // somebody holds the lock
    finished,  // exit code 0
    stopped,   // exit code 75: stopped early with a valid checkpoint
    failed,    // another exit code
    crashed,   // nobody holds the lock and no exit code was written
};
const char* to_string(RunState state);

struct RunView {
    std::filesystem::path directory;
    std::optional<RunRecord> record;  // run.json, if there is one
    Metrics metrics;                  // empty if there is no metrics.jsonl
    std::string owner;  // who holds the lock, as in "job 1234 on node01, process 77"; empty: nobody
    std::string
        newest_checkpoint;  // name and age or size, as the caller likes; empty: the last one run.json names
    Time now{};
};

// Reads run.json and metrics.jsonl (its last `last_bytes`); files that do not exist are left out. The rest of
// the view is the caller's. Errors of read_run_record and read_metrics.
RunView load_run(const std::filesystem::path& directory, Time now,
                 std::uint64_t last_bytes = std::numeric_limits<std::uint64_t>::max());

RunState state_of(const RunView& run);

// Median samples per second over the last so many steps; not a number if none measured it.
double median_rate(const Metrics& metrics, std::size_t last_steps = std::numeric_limits<std::size_t>::max());

// Several lines, each "what  value", and last what to do next.
std::string status_text(const RunView& run);

// What a user can do about a run in this state that ended with this code (when it ended).
std::string next_action(RunState state, std::optional<int> exit_code);

}  // namespace mastic::report
