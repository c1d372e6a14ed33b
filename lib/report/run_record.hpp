// run.json: what a run was and how it ended. Written at the start (without "ended" and "exit_code") and again
// at the end, each time whole; a start in the same directory keeps the earlier ones under "restarts".
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/error.hpp>

namespace mastic::report {

inline constexpr int run_record_schema = 1;

using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;

Time now();

// UTC as "2026-03-01T12:00:00Z", in files and for people. The reader returns nothing for any other form.
std::string to_string(Time time);
std::optional<Time> parse_time(std::string_view text);

// One start of the program, from start to exit.
struct RunAttempt {
    Time started{};
    std::optional<Time> ended;
    std::optional<int> exit_code;  // none: killed without a word, or still running
    std::string exit_name;         // to_string(ExitCode)
    std::string reason;            // for people: "time limit", "lost rank 3", "finished"
    std::string job_id;            // Slurm's, if any
    std::int64_t first_step = 0;   // where it went on; 0: from the beginning
    std::int64_t last_step = 0;
    int world_size = 1;
};

struct BestMetric {
    std::string name;  // "accuracy"
    double value = 0;
    std::int64_t step = 0;
};

struct RunRecord {
    std::string program;  // "mastic-train"
    std::string version;
    std::vector<std::string> command_line;
    std::vector<std::string> hosts;
    RunAttempt attempt;                // the newest; its members are stored at the top level of run.json
    std::int64_t samples = 0;          // seen, over all attempts
    std::int64_t planned_samples = 0;  // to see until done; 0: unknown
    std::map<std::string, double> final_metrics;  // "loss", "accuracy", ... of the last evaluation
    std::optional<BestMetric> best;
    std::vector<std::string> checkpoints;          // names in the run directory, newest last
    std::map<std::string, std::string> libraries;  // "MPI" -> "MPICH 4.0.2"
    std::vector<RunAttempt> restarts;              // earlier attempts, oldest first
};

// The newest attempts in a row that were stopped or killed (code 75, 7 or none) and left no later checkpoint than there
// was before them: those after which the next one began where they had begun, and the last one if `checkpoint_step`, of
// the newest checkpoint, is not after its beginning.
int fruitless_attempts(const RunRecord& record, std::int64_t checkpoint_step);

// Fills in how the attempt ended.
void finish(RunRecord& record, ExitCode code, std::string reason, Time ended);

// Takes over the history of the run that `record` continues: previous.restarts and previous.attempt.
void continue_from(RunRecord& record, const RunRecord& previous);

// Error(io) as write_file_atomically.
void write_run_record(const std::filesystem::path& path, const RunRecord& record);

// Error(io) if it cannot be read; Error(data) if it is damaged or a newer mastic wrote it.
RunRecord read_run_record(const std::filesystem::path& path);

}  // namespace mastic::report
