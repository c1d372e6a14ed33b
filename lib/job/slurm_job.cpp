#include <mastic/job/slurm_job.hpp>

#include <cstdlib>
#include <optional>
#include <sstream>

#include <mastic/core/duration.hpp>
#include <mastic/core/error.hpp>

namespace mastic::job {
namespace {

bool means_none(std::string_view value) {
    return value.empty() || value == "(null)" || value == "N/A" || value == "None";
}

// These stand alone on their lines, with blanks in them.
bool takes_whole_line(std::string_view key) {
    return key == "Command" || key == "WorkDir" || key == "StdOut" || key == "StdErr" || key == "StdIn" ||
           key == "Comment";
}

// Is the time limit over? Slurm looks at limits in intervals, so a job may run a little longer, never shorter.
bool at_time_limit(const SlurmJob& job) {
    const auto ran = job.find("RunTime");
    const auto limit = job.find("TimeLimit");
    if (ran == job.end() || limit == job.end()) {
        return false;
    }
    try {
        const std::optional<Seconds> most = parse_slurm_time(limit->second);
        return most && parse_slurm_time(ran->second).value_or(Seconds{0}) >= *most;
    } catch (const Error&) {
        return false;
    }
}

// Flags that Slurm shows in place of RUNNING while a job goes on (squeue's manual, "JOB STATE CODES").
bool goes_on(std::string_view state) {
    return state == "RUNNING" || state == "CONFIGURING" || state == "RESIZING" || state == "SIGNALING" || state == "STOPPED" ||
           state == "SUSPENDED";
}

// A preemption that suspends a job stays in its record when the job goes on. Slurm's times sort as text.
bool is_preempted(const SlurmJob& job) {
    const auto preempted = job.find("PreemptTime");
    const auto suspended = job.find("SuspendTime");
    return preempted != job.end() && (suspended == job.end() || suspended->second < preempted->second);
}

// Records are parted by empty lines.
std::string_view record_in(std::string_view answer, std::string_view job_id) {
    const std::string begin = "JobId=" + std::string(job_id) + " ";
    std::size_t at = answer.starts_with(begin) ? 0 : answer.find("\n" + begin);
    at = at == answer.npos || job_id.empty() ? 0 : at;
    return answer.substr(at, answer.find("\n\n", at) - at);
}

}  // namespace

SlurmJob parse_slurm_job(std::string_view answer, std::string_view job_id) {
    SlurmJob job;
    std::istringstream lines{std::string(record_in(answer, job_id))};
    for (std::string line; std::getline(lines, line);) {
        std::size_t begin = line.find_first_not_of(' ');
        while (begin != line.npos) {
            const std::size_t equals = line.find('=', begin);
            if (equals == line.npos) {
                break;
            }
            const std::string key = line.substr(begin, equals - begin);
            const std::size_t end = takes_whole_line(key) ? line.npos : line.find(' ', equals);
            const std::string value =
                line.substr(equals + 1, end == line.npos ? line.npos : end - equals - 1);
            if (!means_none(value)) {
                job.emplace(key, value);
            }
            begin = end == line.npos ? end : line.find_first_not_of(' ', end);
        }
    }
    return job;
}

SlurmJob ask_slurm_job(const std::string& job_id, const CommandRunner& run, Seconds timeout) {
    if (job_id.empty()) {
        return {};
    }
    const CommandResult result = run({"scontrol", "show", "job", job_id}, timeout);
    return result.exit_code == 0 ? parse_slurm_job(result.output, job_id) : SlurmJob{};
}

const char* to_string(JobFate fate) {
    switch (fate) {
        case JobFate::running:
            return "running";
        case JobFate::requeued:
            return "requeued";
        case JobFate::preempted:
            return "preempted";
        case JobFate::timed_out:
            return "at its time limit";
        case JobFate::node_fail:
            return "lost a node";
        case JobFate::cancelled:
            return "cancelled";
        case JobFate::unknown:
            return "unknown";
    }
    return "unknown";
}

JobFate fate_of(const SlurmJob& job, int restarts) {
    const auto state = job.find("JobState");
    if (state == job.end()) {
        return JobFate::unknown;
    }
    const auto counted = job.find("Restarts");
    if (counted != job.end() && std::atoi(counted->second.c_str()) > restarts) {
        return JobFate::requeued;
    }
    if (goes_on(state->second)) {
        return JobFate::running;
    }
    if (state->second == "NODE_FAIL") {
        return JobFate::node_fail;
    }
    if (is_preempted(job)) {
        return JobFate::preempted;
    }
    return at_time_limit(job) ? JobFate::timed_out : JobFate::cancelled;
}

bool told_to_end(const SlurmJob& job, int restarts) {
    const JobFate fate = fate_of(job, restarts);
    return is_preempted(job) || (fate != JobFate::running && fate != JobFate::unknown);
}

bool told_before_start(const JobContext& context, const CommandRunner& run, Seconds timeout) {
    return told_to_end(ask_slurm_job(context.slurm_job_id, run, timeout), context.restart_count);
}

}  // namespace mastic::job
