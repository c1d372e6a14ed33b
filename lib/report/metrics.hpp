// metrics.jsonl: what happened in a run, one JSON object per line, appended as it happens. Every object has
// "schema" (1) and "type" ("step", "evaluation", "event"); its other keys are the members below, under the
// same names. Units are in the names: _s seconds, _ms milliseconds. A number that is not finite is stored as
// null.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <mastic/core/file.hpp>

namespace mastic::report {

inline constexpr int metrics_schema = 1;
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// One optimizer step, counted from 1. The times are those of the slowest rank if the caller reduces them,
// else of rank 0; what they leave of step_ms is waiting for data and bookkeeping.
struct StepRecord {
    std::int64_t step = 0;
    std::int64_t epoch = 0;    // from 0
    std::int64_t samples = 0;  // seen since the first step of the run, over all ranks and restarts
    double time_s = 0;         // since this start of the program; see read_metrics for resumed runs
    double loss = not_a_number;
    double learning_rate = not_a_number;
    double samples_per_s = not_a_number;  // over all ranks
    double step_ms = not_a_number;
    double forward_ms = not_a_number;
    double backward_ms = not_a_number;
    double exposed_communication_ms =
        not_a_number;  // waiting for reductions that did not hide behind backward
    double optimizer_ms = not_a_number;
    double checkpoint_stall_ms = not_a_number;
    std::int64_t global_batch = 0;
    std::int64_t world_size = 1;
};

// One pass over a split of the data, after `step` steps.
struct EvaluationRecord {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::int64_t samples = 0;
    double time_s = 0;
    std::string split;  // "validation", "test"
    double loss = not_a_number;
    std::map<std::string, double> metrics;  // "accuracy" -> 0.91
};

// Kinds in use: "start", "resume", "checkpoint", "signal", "resize", "balance", "stop". Each start of the program writes
// "start" or "resume"; the step of "resume" is that of the restored checkpoint.
struct EventRecord {
    std::int64_t step = 0;
    double time_s = 0;
    std::string kind;
    std::string text;
    std::map<std::string, double> numbers;
};

using MetricsRecord = std::variant<StepRecord, EvaluationRecord, EventRecord>;

// One line without the line break.
std::string to_json_line(const MetricsRecord& record);

// Empty if the line is torn, damaged or of an unknown type. Unknown keys are ignored and missing ones keep
// their default. Throws Error(data) if a newer mastic wrote it.
std::optional<MetricsRecord> parse_json_line(std::string_view line);

// Appends to the file. A line torn by a kill is closed first, so that it damages nothing after it. Errors as
// LineWriter.
class MetricsWriter {
  public:
    explicit MetricsWriter(const std::filesystem::path& path) : writer_(path) {}
    void write(const MetricsRecord& record);

  private:
    LineWriter writer_;
};

// The history of a run as the surviving weights lived it: steps and evaluations are in rising order of step.
// A resume that goes back to an older checkpoint drops what came after that checkpoint; time_s goes on from
// the time spent before the restart, lost work included. Events are all kept.
struct Metrics {
    std::vector<StepRecord> steps;
    std::vector<EvaluationRecord> evaluations;
    std::vector<EventRecord> events;
    std::size_t damaged_lines = 0;
    std::size_t rewound_records = 0;  // dropped because a later resume did those steps again
};

Metrics parse_metrics(std::string_view text);

// `last_bytes` limits reading to the end of the file, for a quick look at a long run (time_s then starts
// there). Errors: Error(io) if the file cannot be read, Error(data) as parse_json_line.
Metrics read_metrics(const std::filesystem::path& path,
                     std::uint64_t last_bytes = std::numeric_limits<std::uint64_t>::max());

}  // namespace mastic::report
