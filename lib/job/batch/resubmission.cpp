#include <mastic/job/batch/resubmission.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <sstream>
#include <utility>

#include <mastic/core/error.hpp>
#include <mastic/job/batch/shell_words.hpp>
#include <mastic/job/host_list.hpp>
#include <mastic/job/signals.hpp>

namespace mastic::job {
namespace {

constexpr int requeue_code = static_cast<int>(ExitCode::requeue);

std::string times(int count) {
    return std::to_string(count) + (count == 1 ? " time" : " times");
}

// Field of scontrol -> option of sbatch.
constexpr std::array<std::pair<const char*, const char*>, 12> kept_fields{{
    {"StdOut", "--output"},
    {"NumNodes", "--nodes"},
    {"TimeLimit", "--time"},
    {"Partition", "--partition"},
    {"Account", "--account"},
    {"QOS", "--qos"},
    {"Features", "--constraint"},
    {"Reservation", "--reservation"},
    {"Licenses", "--licenses"},
    {"Comment", "--comment"},
    {"MailUser", "--mail-user"},
    {"MailType", "--mail-type"},
}};

// Not NumTasks of scontrol: that is nodes x ranks on a node, also where fewer ranks were asked for.
constexpr std::array<std::pair<const char*, const char*>, 13> kept_variables{{
    {"SLURM_JOB_NAME", "--job-name"},
    {"SLURM_NTASKS", "--ntasks"},
    {"SLURM_NTASKS_PER_NODE", "--ntasks-per-node"},
    {"SLURM_CPUS_PER_TASK", "--cpus-per-task"},
    {"SLURM_DISTRIBUTION", "--distribution"},
    {"SLURM_GPUS", "--gpus"},
    {"SLURM_GPUS_PER_NODE", "--gpus-per-node"},
    {"SLURM_GPUS_PER_TASK", "--gpus-per-task"},
    {"SLURM_MEM_PER_NODE", "--mem"},
    {"SLURM_MEM_PER_CPU", "--mem-per-cpu"},
    {"SLURM_MEM_PER_GPU", "--mem-per-gpu"},
    {"SLURM_THREADS_PER_CORE", "--threads-per-core"},
    {"SLURM_ARRAY_TASK_ID", "--array"},
}};

// "gres:gpu:2" (Slurm 22.05) or "gres/gpu:2" -> "gpu:2".
std::string gres_of(std::string text) {
    for (const std::string_view prefix : {"gres:", "gres/"}) {
        for (auto at = text.find(prefix); at != text.npos; at = text.find(prefix)) {
            text.erase(at, prefix.size());
        }
    }
    return text;
}

std::string field(const SlurmJob& job, const char* name) {
    const auto found = job.find(name);
    return found == job.end() ? "" : found->second;
}

// The last task of an array has the array's id, which alone stands for all of its tasks.
std::string id_of(const SlurmJob& job, const Environment& environment) {
    const std::string array = field(job, "ArrayJobId");
    const std::string task = field(job, "ArrayTaskId");
    return array.empty() || task.empty() ? environment("SLURM_JOB_ID").value_or("") : array + "_" + task;
}

// Which nodes: those that were asked for or refused stay so, and none that is lost is asked for.
std::vector<std::string> node_choice(const SlurmJob& job, const std::vector<std::string>& lost_nodes) {
    std::vector<std::string> options;
    std::vector<std::string> wanted = expand_or_none(field(job, "ReqNodeList"));
    std::erase_if(wanted, [&](const auto& node) { return std::ranges::count(lost_nodes, node) > 0; });
    if (!wanted.empty()) {
        options.push_back("--nodelist=" + compress_host_list(wanted));
    }
    std::vector<std::string> refused = expand_or_none(field(job, "ExcNodeList"));
    refused.insert(refused.end(), lost_nodes.begin(), lost_nodes.end());
    std::ranges::sort(refused);
    refused.erase(std::unique(refused.begin(), refused.end()), refused.end());
    if (!refused.empty()) {
        options.push_back("--exclude=" + compress_host_list(refused));
    }
    return options;
}

// What a word of scontrol stands for.
std::vector<std::string> translated(const SlurmJob& job) {
    std::vector<std::string> options;
    if (const std::string error = field(job, "StdErr"); !error.empty() && error != field(job, "StdOut")) {
        options.push_back("--error=" + error);
    }
    if (const std::string sharing = field(job, "OverSubscribe"); sharing == "NO" || sharing == "YES") {
        options.emplace_back(sharing == "NO" ? "--exclusive" : "--oversubscribe");
    }
    if (const std::string nice = field(job, "Nice"); !nice.empty() && nice != "0") {
        options.push_back("--nice=" + nice);
    }
    if (const std::string requeue = field(job, "Requeue"); !requeue.empty()) {
        options.emplace_back(requeue == "0" ? "--no-requeue" : "--requeue");
    }
    return options;
}

// The controller may have obeyed all the same.
bool answer_is_lost(const CommandResult& result) {
    return result.exit_code == 124 ||
           (result.exit_code != 0 && result.error.find("Socket timed out") != std::string::npos);
}

// "afterany:7"; empty: none.
std::string dependency_of(const std::vector<std::string>& sbatch) {
    constexpr std::string_view option = "--dependency=";
    const auto found = std::ranges::find_if(sbatch, [&](const auto& word) { return word.starts_with(option); });
    return found == sbatch.end() ? "" : found->substr(option.size());
}

struct Waiting {
    bool known = false;  // Slurm has answered
    std::string id;
};

// The user's job that waits for what `dependency` says, which squeue shows as "afterany:7(unfulfilled)".
Waiting find_waiting_job(const std::string& dependency, const CommandRunner& run) {
    if (dependency.empty()) {
        return {};
    }
    const CommandResult result = run({"squeue", "--me", "--noheader", "--format=%A %E"}, Seconds(60));
    std::istringstream lines(result.output);
    std::string id, waits_for;
    while (lines >> id && std::getline(lines, waits_for)) {
        if (waits_for.find(" " + dependency + "(") != std::string::npos) {
            return {true, id};
        }
    }
    return {result.exit_code == 0, ""};
}

}  // namespace

Verdict judge(const RunEnd& end, JobFate fate, int max_restarts) {
    const std::string how = end.how.empty() ? "" : " (" + end.how + ")";
    if (end.code == 0) {
        return {false, end.how.empty() ? "the run is done" : end.how};
    }
    const bool lost = end.code == static_cast<int>(ExitCode::collective) &&
                      (!end.lost_nodes.empty() || fate == JobFate::node_fail);
    if (end.code != requeue_code && !lost) {
        return {false,
                "the run failed with code " + std::to_string(end.code) + how + "; it is not started again"};
    }
    const std::string stopped =
        (lost ? (end.lost_nodes.empty() ? "a node" : compress_host_list(end.lost_nodes)) + " went away and the run ended" : "the run was stopped") +
        how;
    if (fate == JobFate::requeued) {
        return {false, stopped + "; Slurm has requeued this job, which will go on"};
    }
    if (fate == JobFate::cancelled) {
        return {false, stopped + "; the job was cancelled, so it goes on when you submit it again"};
    }
    if (end.fruitless_starts > max_restarts) {
        return {
            false,
            stopped + " " + times(end.fruitless_starts) +
                " in a row without a new checkpoint and is given up (slurm.max_restarts); is the time limit "
                "too short for a step?"};
    }
    return {true, stopped};
}

bool stopped_at_start(int launcher_code, bool told) {
    return launcher_code > 128 && stop_reason_of(launcher_code - 128) != StopReason::none &&
           launcher_code != 128 + SIGINT && (told || launcher_code != 128 + SIGTERM);
}

std::vector<std::string> resubmission(const SlurmJob& job, const Environment& environment,
                                      const std::string& script, const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& lost_nodes) {
    // Slurm sets SLURM_RESTART_COUNT only in jobs that it has requeued: this job's must not reach the next.
    std::vector<std::string> command{"env",        "-u",           "SLURM_RESTART_COUNT", "sbatch",
                                     "--parsable", "--export=ALL", "--open-mode=append"};
    if (const std::string id = id_of(job, environment); !id.empty()) {
        command.push_back("--dependency=afterany:" + id);
    }
    for (const auto& options : {node_choice(job, lost_nodes), translated(job)}) {
        command.insert(command.end(), options.begin(), options.end());
    }
    for (const auto& [field, option] : kept_fields) {
        if (const auto found = job.find(field); found != job.end()) {
            command.push_back(std::string(option) + "=" + found->second);
        }
    }
    for (const auto& [variable, option] : kept_variables) {
        if (const auto value = environment(variable); value && !value->empty()) {
            command.push_back(std::string(option) + "=" + *value);
        }
    }
    if (const auto gres = job.find("TresPerNode"); gres != job.end() && !environment("SLURM_GPUS_PER_NODE")) {
        command.push_back("--gres=" + gres_of(gres->second));
    }
    command.push_back(script);
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

std::string submit(const std::vector<std::string>& sbatch, const CommandRunner& run) {
    CommandResult result = run(sbatch, Seconds(60));
    constexpr int tries = 3;
    for (int again = 1; again < tries && answer_is_lost(result); ++again) {
        const Waiting waiting = find_waiting_job(dependency_of(sbatch), run);
        if (!waiting.id.empty()) {
            return waiting.id;
        }
        if (!waiting.known) {
            break;
        }
        result = run(sbatch, Seconds(60));
    }
    if (result.exit_code != 0) {
        const std::string said = result.exit_code == 127 ? "there is no sbatch here"
                                 : result.exit_code == 124
                                     ? "no answer within a minute"
                                     : result.error.substr(0, result.error.find_last_not_of('\n') + 1);
        throw Error(ExitCode::environment, "sbatch failed: " + said, "by hand: " + shell_text(sbatch));
    }
    // --parsable: "ID" or "ID;CLUSTER".
    const std::string id = result.output.substr(0, result.output.find_first_of(";\n"));
    if (id.empty() || id.find_first_not_of("0123456789") != id.npos) {
        throw Error(ExitCode::environment, "sbatch gives no number of a job, but '" + id.substr(0, 80) + "'",
                    "by hand: " + shell_text(sbatch));
    }
    return id;
}

}  // namespace mastic::job
