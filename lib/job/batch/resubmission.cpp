#include <mastic/job/batch/resubmission.hpp>

#include <algorithm>
#include <array>
#include <csignal>
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
constexpr std::array<std::pair<const char*, const char*>, 9> kept_fields{{
    {"StdOut", "--output"},
    {"NumNodes", "--nodes"},
    {"NumTasks", "--ntasks"},
    {"TimeLimit", "--time"},
    {"Partition", "--partition"},
    {"Account", "--account"},
    {"QOS", "--qos"},
    {"Features", "--constraint"},
    {"Reservation", "--reservation"},
}};

constexpr std::array<std::pair<const char*, const char*>, 7> kept_variables{{
    {"SLURM_JOB_NAME", "--job-name"},
    {"SLURM_NTASKS_PER_NODE", "--ntasks-per-node"},
    {"SLURM_CPUS_PER_TASK", "--cpus-per-task"},
    {"SLURM_GPUS_PER_NODE", "--gpus-per-node"},
    {"SLURM_MEM_PER_NODE", "--mem"},
    {"SLURM_MEM_PER_CPU", "--mem-per-cpu"},
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

}  // namespace

Verdict judge(const RunEnd& end, JobFate fate, int max_restarts) {
    const std::string how = end.how.empty() ? "" : " (" + end.how + ")";
    if (end.code == 0) {
        return {false, end.how.empty() ? "the run is done" : end.how};
    }
    const bool lost = end.code == static_cast<int>(ExitCode::collective) && !end.lost_nodes.empty();
    if (end.code != requeue_code && !lost) {
        return {false,
                "the run failed with code " + std::to_string(end.code) + how + "; it is not started again"};
    }
    const std::string stopped =
        (lost ? compress_host_list(end.lost_nodes) + " went away and the run ended" : "the run was stopped") +
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

bool stopped_at_start(int launcher_code) {
    return launcher_code > 128 && stop_reason_of(launcher_code - 128) != StopReason::none &&
           launcher_code != 128 + SIGINT;
}

std::vector<std::string> resubmission(const SlurmJob& job, const Environment& environment,
                                      const std::string& script, const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& lost_nodes) {
    // Slurm sets SLURM_RESTART_COUNT only in jobs that it has requeued: this job's must not reach the next.
    std::vector<std::string> command{"env",        "-u",           "SLURM_RESTART_COUNT", "sbatch",
                                     "--parsable", "--export=ALL", "--open-mode=append"};
    if (const auto id = environment("SLURM_JOB_ID")) {
        command.push_back("--dependency=afterany:" + *id);
    }
    if (!lost_nodes.empty()) {
        command.push_back("--exclude=" + compress_host_list(lost_nodes));
    }
    for (const auto& [field, option] : kept_fields) {
        if (const auto found = job.find(field); found != job.end()) {
            command.push_back(std::string(option) + "=" + found->second);
        }
    }
    for (const auto& [variable, option] : kept_variables) {
        if (const auto value = environment(variable)) {
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
    const CommandResult result = run(sbatch, Seconds(60));
    if (result.exit_code != 0) {
        const std::string said = result.exit_code == 127 ? "there is no sbatch here"
                                 : result.exit_code == 124
                                     ? "no answer within a minute"
                                     : result.error.substr(0, result.error.find_last_not_of('\n') + 1);
        throw Error(ExitCode::environment, "sbatch failed: " + said, "by hand: " + shell_text(sbatch));
    }
    // --parsable: "ID" or "ID;CLUSTER".
    return result.output.substr(0, result.output.find_first_of(";\n"));
}

}  // namespace mastic::job
