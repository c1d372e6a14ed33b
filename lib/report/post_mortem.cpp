#include <mastic/report/post_mortem.hpp>

#include <algorithm>
#include <array>
#include <ctime>

#include <mastic/report/number_format.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::report {
namespace {

using job::LastMoment;

constexpr const char* more_memory = "ask for more with --mem, or lower train.batch_size or train.micro_batch; ";

struct SlurmEnd {
    const char* state;
    const char* cause;
    const char* advice;  // before "then start it again"
};
constexpr std::array slurm_ends = {
    SlurmEnd{"OUT_OF_MEMORY", "the job used more memory than Slurm granted, and the kernel killed processes of it",
             more_memory},
    SlurmEnd{"NODE_FAIL", "a node of the job failed", ""},
    SlurmEnd{"BOOT_FAIL", "a node of the job did not start", ""},
    SlurmEnd{"TIMEOUT", "the job reached its time limit before the run had saved and stopped by itself",
             "set a larger job.margin, which stops earlier; "},
    SlurmEnd{"DEADLINE", "the job reached its deadline", ""},
    SlurmEnd{"PREEMPTED", "Slurm took the nodes for a job of higher priority", ""},
    SlurmEnd{"CANCELLED", "somebody cancelled the job (scancel)", ""}};

std::string start_again(const RunView& run) {
    return run.newest_checkpoint.empty()
               ? "start it again with the same command: it begins anew, since there is no checkpoint"
               : "start it again with the same command: it resumes from " + run.newest_checkpoint;
}

std::string rank_name(const LastMoment& moment) {
    return "rank " + std::to_string(moment.rank) + " on " + moment.host;
}

std::string place_of(const LastMoment& moment) {
    return (moment.step > 0 ? "in step " + grouped(moment.step) : std::string("before the first step")) + " (" +
           moment.phase + ")";
}

// A rank in such a phase waits for others: its end follows from theirs.
bool waits(const LastMoment& moment) {
    return moment.phase.starts_with("bucket") || moment.phase == "wait" || moment.phase == "checkpoint stall";
}

// The rank that others may have waited for: behind in steps, then not waiting itself, then silent for longest.
const LastMoment* first_silent(const std::vector<LastMoment>& ranks) {
    const LastMoment* first = nullptr;
    const auto order = [](const LastMoment& moment) { return std::tuple(moment.step, waits(moment), moment.since); };
    for (const LastMoment& moment : ranks) {
        if (moment.end.empty() && (first == nullptr || order(moment) < order(*first))) {
            first = &moment;
        }
    }
    return first;
}

const LastMoment* moment_of(const EndEvidence& evidence, int rank) {
    const auto found = std::ranges::find(evidence.ranks, rank, &LastMoment::rank);
    return found == evidence.ranks.end() ? nullptr : &*found;
}

const SlurmEnd* slurm_end(const EndEvidence& evidence) {
    if (!evidence.slurm) {
        return nullptr;
    }
    const auto found = std::ranges::find_if(
        slurm_ends, [&](const SlurmEnd& end) { return evidence.slurm->state == end.state; });
    return found == slurm_ends.end() ? nullptr : &*found;
}

// The first rank that was killed, as srun says: the others end because of it.
std::optional<Verdict> killed_rank(const EndEvidence& evidence) {
    const auto killed = std::ranges::find_if(evidence.task_ends, [](const job::TaskEnd& end) {
        return end.how == "Killed" || end.how == "Out Of Memory";
    });
    const LastMoment* moment = killed == evidence.task_ends.end() ? nullptr : moment_of(evidence, killed->task);
    if (moment == nullptr || !moment->end.empty()) {
        return std::nullopt;
    }
    const bool memory = killed->how == "Out Of Memory";
    return Verdict{rank_name(*moment) + " was killed " + place_of(*moment) + (memory ? ": out of memory" : ", with SIGKILL"),
                   (memory ? std::string(more_memory)
                           : "somebody did, or the kernel, for want of memory (`dmesg -T` on " + moment->host +
                                 " tells). If it was memory, " + more_memory) +
                       "then " + start_again(evidence.run)};
}

std::string silent_cause(const EndEvidence& evidence, const LastMoment& first) {
    if (waits(first)) {
        return "all ranks were killed at once, " + place_of(first) + ", each waiting for the others";
    }
    std::string cause = rank_name(first) + " was killed " + place_of(first);
    const auto waiting = std::ranges::count_if(evidence.ranks, [](const LastMoment& m) { return waits(m); });
    if (waiting > 0) {
        cause += "; " + std::to_string(waiting) + (waiting == 1 ? " rank" : " ranks") + " waited for it";
    }
    return cause;
}

// What the ranks that were left have said of it; empty: nothing, or they ended for another reason.
std::string word_of_a_loss(const EndEvidence& evidence) {
    const bool ended = evidence.run.record && evidence.run.record->attempt.exit_code.has_value();
    if (!ended) {
        return evidence.failure ? to_string(*evidence.failure) : "";
    }
    const RunAttempt& attempt = evidence.run.record->attempt;
    return *attempt.exit_code == static_cast<int>(ExitCode::collective) ? attempt.reason : "";
}

std::string local_time(std::chrono::system_clock::time_point time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%H:%M:%S", &parts);
    const std::string fraction = std::to_string(1000 + milliseconds);
    return std::string(text) + "." + fraction.substr(1);
}

std::string slurm_text(const job::SlurmRecord& record) {
    std::string text = "job " + record.job_id + ": " + record.state;
    for (const auto& [label, value] : {std::pair{"", record.reason}, {"exit ", record.exit}, {"on ", record.nodes},
                                       {"ended ", record.ended}, {"time limit ", record.time_limit}}) {
        if (!value.empty()) {
            text += ", " + (label + value);
        }
    }
    return text;
}

std::string own_end(const RunView& run) {
    if (!run.record || !run.record->attempt.exit_code) {
        return "";
    }
    const RunAttempt& attempt = run.record->attempt;
    return "exit code " + std::to_string(*attempt.exit_code) + " (" + attempt.exit_name + "): " + attempt.reason;
}

std::string summary(const EndEvidence& evidence) {
    const RunView& run = evidence.run;
    const Verdict verdict = find_cause(evidence);
    TextTable table;
    table.header = {"run", run.directory.string()};
    table.rows.push_back({"first", verdict.cause});
    table.rows.push_back({"do", verdict.advice});
    if (const std::string end = own_end(run); !end.empty()) {
        table.rows.push_back({"run.json", end});
    }
    if (evidence.failure) {
        table.rows.push_back({"error", to_string(*evidence.failure)});
    }
    if (evidence.slurm) {
        table.rows.push_back({"slurm", slurm_text(*evidence.slurm)});
        if (!evidence.slurm->log.empty()) {
            table.rows.push_back({"job log", evidence.slurm->log});
        }
    }
    table.rows.push_back({"checkpoint", run.newest_checkpoint.empty() ? "none" : run.newest_checkpoint});
    return to_text(table);
}

std::string rank_table(const std::vector<LastMoment>& ranks) {
    TextTable table;
    table.header = {"rank", "host", "step", "phase", "since", "end"};
    for (const LastMoment& moment : ranks) {
        table.rows.push_back({std::to_string(moment.rank), moment.host, std::to_string(moment.step), moment.phase,
                              local_time(moment.since), moment.end.empty() ? "without a word" : moment.end});
    }
    return to_text(table);
}

// A second start would only be refused.
std::optional<std::string> goes_on_by_itself(const EndEvidence& evidence) {
    if (evidence.successor && (evidence.successor->state == "PENDING" || evidence.successor->state == "RUNNING")) {
        return "nothing: job " + evidence.successor->job_id + " goes on (" + evidence.successor->state + ")";
    }
    if (!evidence.slurm) {
        return std::nullopt;
    }
    const job::SlurmRecord& slurm = *evidence.slurm;
    if (slurm.state == "SUSPENDED") {
        return "the job is suspended: scontrol resume " + slurm.job_id;
    }
    const bool held = slurm.reason.starts_with("JobHeld") || slurm.state == "REQUEUE_HOLD";
    if (held) {
        return "the job is held: scontrol release " + slurm.job_id;
    }
    if (slurm.state == "PENDING" || slurm.state == "REQUEUED") {
        return "nothing: Slurm starts job " + slurm.job_id + " again (" + slurm.reason + ")";
    }
    return std::nullopt;
}

Verdict find_first_cause(const EndEvidence& evidence) {
    const RunView& run = evidence.run;
    const RunState state = state_of(run);
    const std::optional<int> code = run.record ? run.record->attempt.exit_code : std::nullopt;
    if (state == RunState::running) {
        return {"the run goes on: " + run.owner, next_action(state, code)};
    }
    if (state == RunState::empty || state == RunState::finished || state == RunState::stopped) {
        const std::string reason = run.record ? ": " + run.record->attempt.reason : "";
        return {to_string(state) + reason, next_action(state, code)};
    }
    if (!evidence.crashes.empty()) {
        const job::CrashReport& crash = evidence.crashes.front();
        const LastMoment* moment = moment_of(evidence, crash.rank);
        return {(moment != nullptr ? rank_name(*moment) : "rank " + std::to_string(crash.rank)) + " crashed with " +
                    crash.signal + (moment != nullptr ? " " + place_of(*moment) : ""),
                "this is an error of the program or of a library: report it with the backtrace below; then " +
                    start_again(run)};
    }
    if (evidence.failure && evidence.failure->code != ExitCode::collective) {
        return {to_string(*evidence.failure), next_action(RunState::failed, static_cast<int>(evidence.failure->code))};
    }
    if (const SlurmEnd* end = slurm_end(evidence)) {
        const std::string advice = end->advice;
        return {end->cause, (advice.empty() ? "" : advice + "then ") + start_again(run)};
    }
    if (auto killed = killed_rank(evidence)) {
        return *killed;
    }
    const LastMoment* first = first_silent(evidence.ranks);
    if (std::string lost = word_of_a_loss(evidence); !lost.empty()) {
        if (first != nullptr && lost.find(rank_name(*first)) == std::string::npos) {
            lost += "; last seen: " + rank_name(*first) + " " + place_of(*first);
        }
        return {lost, next_action(RunState::failed, static_cast<int>(ExitCode::collective))};
    }
    if (first != nullptr && !code) {
        return {silent_cause(evidence, *first),
                "look for the kernel's out-of-memory killer or an operator on that node; then " + start_again(run)};
    }
    return {code ? run.record->attempt.reason : "the run was killed without a word", next_action(state, code)};
}

}  // namespace

Verdict find_cause(const EndEvidence& evidence) {
    Verdict verdict = find_first_cause(evidence);
    if (const auto advice = goes_on_by_itself(evidence)) {
        verdict.advice = *advice;
    }
    return verdict;
}

std::string post_mortem_text(const EndEvidence& evidence) {
    std::string text = summary(evidence);
    if (!evidence.ranks.empty()) {
        text += "\n" + rank_table(evidence.ranks);
    }
    for (const job::CrashReport& crash : evidence.crashes) {
        text += "\nrank " + std::to_string(crash.rank) + ", " + crash.signal + ":\n";
        for (const std::string& frame : crash.frames) {
            text += "  " + frame + "\n";
        }
    }
    return text;
}

}  // namespace mastic::report
