#include <mastic/engine/time_limit.hpp>

#include <algorithm>

#include <spdlog/spdlog.h>

#include <mastic/core/command.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::engine {

TimeLimit::TimeLimit(const CommandContext& context, bool asks_slurm) : context_(context) {
    const std::string& job = context.job.slurm_job_id;
    const job::EndTime end = limited(asks_slurm ? job::find_end_time(job, process_environment(), run_command) : job::EndTime{});
    planner_.emplace(end.at, context.options.job.margin);
    if (asks_slurm && !job.empty()) {
        // SLURM_JOB_END_TIME, where Slurm sets it, is that of the job's start.
        const Environment nothing = [](const std::string&) { return std::nullopt; };
        constexpr Seconds patience{2};
        watch_.emplace(
            end, [this, job, nothing] { return limited(job::find_end_time(job, nothing, run_command, patience)); },
            [this](const job::EndTime& changed) { take(changed); });
    }
}

job::EndTime TimeLimit::limited(const job::EndTime& end) const {
    const Seconds own = context_.options.job.time_limit;
    return job::limit_end_time(end, begin_, own.count() > 0 ? std::optional(own) : std::nullopt);
}

void TimeLimit::take(const job::EndTime& end) {
    planner_->set_end(end.at);
    if (end.at) {
        const Seconds left = std::max(Seconds(0), Seconds(*end.at - std::chrono::system_clock::now()));
        spdlog::info("the job's time limit has changed: {} are left, says {}", human(left), end.source);
    } else {
        spdlog::info("the job's time limit has changed: {}", end.source);
    }
}

}  // namespace mastic::engine
