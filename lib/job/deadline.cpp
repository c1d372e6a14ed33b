#include <mastic/job/deadline.hpp>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <sstream>
#include <vector>

#include <mastic/job/slurm_job.hpp>

namespace mastic::job {
namespace {

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos) {
        return "";
    }
    return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// Of the planner: later than any time.
constexpr TimePoint never = TimePoint::max();

// One source: the end time, the word for "unlimited", or why neither.
EndTime interpret(const std::string& source, const std::string& stamp) {
    if (const auto at = parse_slurm_timestamp(stamp)) {
        return {at, source, true};
    }
    // Jobs without limit have no end.
    if (stamp == "NONE" || stamp == "UNLIMITED") {
        return {std::nullopt, "no time limit, says " + source, true};
    }
    return {std::nullopt, source + " gave no end time but '" + stamp.substr(0, 60) + "'", false};
}

// SLURM_TIME_FORMAT would change the form of the answer.
EndTime ask(const CommandRunner& run, std::vector<std::string> command, const std::string& job_id, Seconds timeout,
            std::string (*stamp_in)(const std::string& output, const std::string& job_id)) {
    const auto program = command.front();
    command.insert(command.begin(), {"env", "-u", "SLURM_TIME_FORMAT"});
    const auto result = run(command, timeout);
    if (result.exit_code != 0) {
        const auto reason = result.exit_code == 127   ? "not found"
                            : result.exit_code == 124 ? "no answer in time"
                                                      : trimmed(result.error);
        return {std::nullopt, program + " failed: " + reason, false};
    }
    return interpret(program, stamp_in(result.output, job_id));
}

// Lines "ID END". The id of an array's last task is that of the array: then all its tasks answer.
std::string stamp_of_job(const std::string& output, const std::string& job_id) {
    std::istringstream lines(output);
    std::string id, stamp, first;
    while (lines >> id >> stamp) {
        if (id == job_id) {
            return stamp;
        }
        first = first.empty() ? stamp : first;
    }
    return first.empty() ? trimmed(output) : first;
}

std::string end_time_field(const std::string& output, const std::string& job_id) {
    const SlurmJob job = parse_slurm_job(output, job_id);
    const auto found = job.find("EndTime");
    return found == job.end() ? "" : found->second;
}

}  // namespace

std::optional<TimePoint> time_point_of(std::int64_t seconds) {
    constexpr std::int64_t end_of_time = 9'000'000'000;  // in the year 2255; nanoseconds end in 2262
    if (seconds <= 0 || seconds >= end_of_time) {
        return std::nullopt;
    }
    return std::chrono::system_clock::from_time_t(seconds);
}

std::optional<TimePoint> parse_slurm_timestamp(std::string_view text) {
    const std::string copy(text);
    std::tm parts = {};
    const char* end = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (end == nullptr || *end != '\0') {
        return std::nullopt;
    }
    parts.tm_isdst = -1;
    return time_point_of(std::mktime(&parts));
}

EndTime find_end_time(const std::string& job_id, const Environment& environment, const CommandRunner& run,
                      Seconds timeout) {
    if (const auto stamp = environment("SLURM_JOB_END_TIME")) {
        std::int64_t seconds = 0;
        const auto [stop, error] = std::from_chars(stamp->data(), stamp->data() + stamp->size(), seconds);
        const auto at = time_point_of(seconds);
        if (error == std::errc() && stop == stamp->data() + stamp->size() && at) {
            return {at, "SLURM_JOB_END_TIME", true};
        }
    }
    if (job_id.empty()) {
        return {std::nullopt, "not in a Slurm job"};
    }
    const auto squeue = ask(run, {"squeue", "-h", "-j", job_id, "-o", "%A %e"}, job_id, timeout / 2, stamp_of_job);
    if (squeue.known) {
        return squeue;
    }
    const auto scontrol = ask(run, {"scontrol", "show", "job", job_id}, job_id, timeout / 2, end_time_field);
    if (scontrol.known) {
        return scontrol;
    }
    return {std::nullopt, squeue.source + "; " + scontrol.source, false};
}

EndTime limit_end_time(const EndTime& end, TimePoint start, std::optional<Seconds> limit) {
    if (!limit) {
        return end;
    }
    const auto own = start + std::chrono::duration_cast<TimePoint::duration>(*limit);
    return end.at && *end.at <= own ? end : EndTime{own, "job.time_limit", end.known};
}

StopPlanner::StopPlanner(std::optional<TimePoint> end, Seconds margin, Seconds first_save)
    : end_(end.value_or(never)), margin_(margin), first_save_(first_save) {}

void StopPlanner::observe_step(Seconds step) {
    constexpr double weight = 0.1;
    constexpr double fading = 0.95;  // a peak is forgotten by half in 14 steps
    step_average_ = step_peak_ == Seconds(0) ? step : step_average_ * (1 - weight) + step * weight;
    step_peak_ = std::max(step, step_peak_ * fading);
}

void StopPlanner::observe_save(Seconds save) {
    longest_save_ = std::max(save, longest_save_.value_or(Seconds(0)));
}

Seconds StopPlanner::reserve() const {
    return std::max(step_average_, step_peak_) + longest_save_.value_or(first_save_) + margin_;
}

bool StopPlanner::must_stop(TimePoint now) const {
    const TimePoint end = end_;
    return end != never && end - now <= reserve();
}

std::optional<TimePoint> StopPlanner::end() const {
    const TimePoint end = end_;
    return end == never ? std::nullopt : std::optional(end);
}

void StopPlanner::set_end(std::optional<TimePoint> end) { end_ = end.value_or(never); }

}  // namespace mastic::job
