// When a training must stop for lack of time: the end of its Slurm job, which is asked for again every minute, or
// job.time_limit, whichever is earlier.
#pragma once

#include <optional>

#include <mastic/engine/front/command_context.hpp>
#include <mastic/job/deadline.hpp>
#include <mastic/job/end_time_watch.hpp>

namespace mastic::engine {

class TimeLimit {
  public:
    // Now is where job.time_limit counts from. `asks_slurm`: one rank of a job is enough.
    TimeLimit(const CommandContext& context, bool asks_slurm);

    job::StopPlanner& planner() { return *planner_; }

  private:
    job::EndTime limited(const job::EndTime& end) const;
    void take(const job::EndTime& end);

    const CommandContext& context_;
    const job::TimePoint begin_ = std::chrono::system_clock::now();
    std::optional<job::StopPlanner> planner_;
    std::optional<job::EndTimeWatch> watch_;
};

}  // namespace mastic::engine
