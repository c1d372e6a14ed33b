// What Slurm's controller says of a job: `scontrol show job`.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <mastic/core/command.hpp>
#include <mastic/job/context.hpp>

namespace mastic::job {

// The fields of the answer, "JobState" -> "RUNNING"; values that mean "none" ("(null)", "N/A", "None") are left out.
// Values end at a blank, except those of the lines with a path or a command. One id may stand for all tasks of an array
// and for one of them: of several records the one whose JobId is `job_id` counts, else the first.
using SlurmJob = std::map<std::string, std::string>;
SlurmJob parse_slurm_job(std::string_view answer, std::string_view job_id = "");

// Empty if Slurm cannot be asked.
SlurmJob ask_slurm_job(const std::string& job_id, const CommandRunner& run, Seconds timeout = Seconds(20));

// What became of a job whose batch script still runs.
enum class JobFate {
    running,    // nothing: the script is the last to know
    requeued,   // Slurm will start this job again by itself
    preempted,  // ended in favour of another job
    timed_out,  // its time limit is over
    node_fail,  // a node of it failed
    cancelled,  // by its user or an operator
    unknown,    // Slurm cannot be asked
};
const char* to_string(JobFate fate);

// `restarts`: SLURM_RESTART_COUNT of the script. Slurm counts a requeue at once, while the script still runs; a job
// that is ended is COMPLETING, and its state does not tell why.
JobFate fate_of(const SlurmJob& job, int restarts);

// Has Slurm told the job to end? Also true in the grace time before a preemption, in which the job is RUNNING.
bool told_to_end(const SlurmJob& job, int restarts);

// For a task that has just been started: was its job told to end before that? Where a partition or QOS has a GraceTime, the
// SIGTERM of a preemption goes to the steps that there are, once; a step that starts a moment later never hears of it, and who
// preempts waits until the grace time is over. False outside of Slurm, and if it gives no answer within `timeout`.
bool told_before_start(const JobContext& context, const CommandRunner& run, Seconds timeout = Seconds(5));

}  // namespace mastic::job
