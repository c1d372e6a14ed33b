// When the job ends, and when training must stop to be done by then. Slurm 22.05 gives no SLURM_JOB_END_TIME,
// so squeue and scontrol are asked.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <mastic/core/command.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::job {

using TimePoint = std::chrono::system_clock::time_point;

struct EndTime {
    std::optional<TimePoint> at;  // empty: none known
    std::string source;  // for the log: "squeue", "no time limit", "squeue failed: ..., scontrol failed: ..."
    bool known = false;  // the source could tell: an empty `at` means that there is no limit
};

// Never throws: what cannot be found out is told in `source`. Takes at most `timeout` in all.
// SLURM_JOB_END_TIME (seconds since 1970) wins if it is set; an empty `job_id` means that there is no Slurm
// job.
EndTime find_end_time(const std::string& job_id, const Environment& environment, const CommandRunner& run,
                      Seconds timeout = Seconds(5));

// The earlier of the job's end and the user's own limit (`job.time_limit`), counted from `start`. As well known as `end`.
EndTime limit_end_time(const EndTime& end, TimePoint start, std::optional<Seconds> limit);

// Seconds since 1970. Empty for a time that no job has: before that, or later than a TimePoint can hold.
std::optional<TimePoint> time_point_of(std::int64_t seconds);

// Slurm's time stamps, "2026-01-31T12:00:00" in local time. Empty for anything else.
std::optional<TimePoint> parse_slurm_timestamp(std::string_view text);

// Decides at step boundaries: stop when another step, a checkpoint and the margin would not fit before the
// end. The forecasts are pessimistic: of steps the larger of the moving average and a slowly fading maximum
// (so that the first, cold step does not count for ever), of saves the longest one seen.
class StopPlanner {
  public:
    // `first_save`: the forecast until a save has been observed.
    StopPlanner(std::optional<TimePoint> end, Seconds margin, Seconds first_save = Seconds(10));

    void observe_step(Seconds step);
    void observe_save(Seconds save);

    bool must_stop(TimePoint now) const;
    std::optional<TimePoint> end() const;
    // The limit was changed. The only member that another thread may call.
    void set_end(std::optional<TimePoint> end);
    // What is kept free before the end: one step + one save + margin.
    Seconds reserve() const;

  private:
    std::atomic<TimePoint> end_;
    Seconds margin_;
    Seconds first_save_;
    std::optional<Seconds> longest_save_;
    Seconds step_average_{0};
    Seconds step_peak_{0};
};

}  // namespace mastic::job
