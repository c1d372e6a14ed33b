// Commands for batch scripts, after srun has ended.
#include <mastic/engine/front/run_commands.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include <mastic/checkpoint/store.hpp>
#include <mastic/core/command.hpp>
#include <mastic/core/environment.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/version.hpp>
#include <mastic/report/rank_failure.hpp>
#include <mastic/engine/front/run_view.hpp>
#include <mastic/job/batch/lost_nodes.hpp>
#include <mastic/job/batch/patient_runner.hpp>
#include <mastic/job/batch/resubmission.hpp>
#include <mastic/job/run_directory.hpp>
#include <mastic/job/signals.hpp>

namespace mastic::engine {
namespace {

struct RunFailure {
    ExitCode code = ExitCode::collective;
    std::string reason;
};

template <class Number>
Number parse_number(const std::string& text, const std::string& what, Number most) {
    Number value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size() || value < 0 || value > most) {
        throw Error(ExitCode::usage, "'" + text + "' is not " + what,
                    "give a number from 0 to " + std::to_string(most));
    }
    return value;
}

int parse_exit_code(const std::string& text) { return parse_number<int>(text, "an exit code", 255); }

// A rank that failed alone has left its reason. Else ranks were killed, whatever code the launcher gave: it may be the
// number of a signal, and never means that the run is done.
RunFailure what_ended(const std::string& path, const std::string& launcher_code) {
    const job::RunDirectory directory(path);
    if (const auto failure = report::read_rank_failure(directory)) {
        return {failure->code, to_string(*failure)};
    }
    return {ExitCode::collective,
            report::find_cause(end_evidence(path)).cause + (launcher_code.empty() ? "" : "; the launcher gave code " + launcher_code)};
}

// Ends the record of a run whose ranks could not. Returns the reason.
std::string complete(report::RunRecord& record, const report::RunView& run, const std::string& launcher_code) {
    const RunFailure failure = what_ended(run.directory.string(), launcher_code);
    if (!run.metrics.steps.empty()) {
        record.attempt.last_step = std::max(record.attempt.last_step, run.metrics.steps.back().step);
        record.samples = std::max(record.samples, run.metrics.steps.back().samples);
    }
    report::finish(record, failure.code, failure.reason, report::now());
    return failure.reason;
}

// The end of a job's run, from srun's code and what the run itself has written.
class Settlement {
  public:
    // `told`: the job was told to end.
    Settlement(const CommandContext& context, int launcher_code, report::Time started, bool told)
        : context_(context), launcher_code_(launcher_code), started_(started), told_(told) {}

    // Whatever cannot be read or written (a full disk, a damaged file), the job ends with a code that is true.
    job::RunEnd end() {
        try {
            return find_end();
        } catch (const std::exception& error) {
            std::cerr << "mastic-train: " << error.what() << std::endl;
            return {launcher_code_, 0, {}, ""};
        }
    }

  private:
    job::RunEnd find_end() {
        const std::string& path = context_.options.run.dir;
        report::RunView run;
        if (std::filesystem::is_directory(path)) {
            run = view_when_own_ranks_have_ended(path);
        }
        if (!context_.options.elastic.join.empty()) {
            return end_of_member(run);
        }
        // Another job has it: what is there is not ours to complete.
        if (!run.owner.empty()) {
            return {launcher_code_, 0, {}, ""};
        }
        if (run.record && run.record->attempt.started >= started_ &&
            run.record->attempt.job_id == context_.job.slurm_job_id) {
            return of_record(run);
        }
        return job::stopped_at_start(launcher_code_, told_) ? stopped_before_it_began(run)
                                                            : job::RunEnd{launcher_code_, 0, {}, before_it_began()};
    }

    // Where srun itself was killed, its ranks may still be about to save and end.
    report::RunView view_when_own_ranks_have_ended(const std::string& path) const {
        constexpr std::chrono::seconds patience{90}, pause{1};
        const std::string own = "job " + context_.job.slurm_job_id + " ";
        report::RunView run = view_of(path);
        const auto end = std::chrono::steady_clock::now() + patience;
        while (run.owner.starts_with(own) && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(pause);
            run = view_of(path);
        }
        return run;
    }

    // Codes of a run that has told its error; any other says only how srun ended.
    std::string before_it_began() const {
        return launcher_code_ > 9 ? "before its first step: the lines above say which rank ended first" : "";
    }

    // run.json is for people: the job goes on, or ends, also if it cannot be written.
    void store(const report::RunRecord& record) const {
        const auto file = job::RunDirectory{context_.options.run.dir}.summary_file();
        try {
            report::write_run_record(file, record);
        } catch (const Error& error) {
            std::cerr << "mastic-train: run.json stays as it is: " << error.what() << std::endl;
        }
    }

    // run.json is that of the run's leader, so a member's own code decides. One that stopped while the run came to its end
    // has nothing to come back for.
    job::RunEnd end_of_member(const report::RunView& run) const {
        const bool stopped = launcher_code_ == static_cast<int>(ExitCode::requeue) || job::stopped_at_start(launcher_code_, told_);
        const bool done = run.owner.empty() && run.record && run.record->attempt.exit_code == 0;
        if (stopped && !done) {
            return {static_cast<int>(ExitCode::requeue), 0, {}, "this member left it"};
        }
        const bool well = stopped || launcher_code_ == 0;
        return {well ? 0 : launcher_code_, 0, {}, well ? "the run is done, or this member was drained" : "this member"};
    }

    job::RunEnd end_of(const report::RunRecord& record) const {
        const report::RunAttempt& attempt = record.attempt;
        const bool stopped = attempt.exit_code == static_cast<int>(ExitCode::requeue);
        return {*attempt.exit_code, report::fruitless_attempts(record, newest_checkpoint_step()), {},
                attempt.reason + (stopped ? ", at step " + std::to_string(attempt.last_step) : "")};
    }

    std::int64_t newest_checkpoint_step() const {
        const job::RunDirectory directory(context_.options.run.dir);
        const auto generations = checkpoint::CheckpointStore(directory.checkpoints()).list();
        return generations.empty() ? 0 : static_cast<std::int64_t>(generations.front().step);
    }

    job::RunEnd of_record(const report::RunView& run) {
        report::RunRecord record = *run.record;
        if (!record.attempt.exit_code) {
            complete(record, run, std::to_string(launcher_code_));
            store(record);
        } else if (*record.attempt.exit_code == static_cast<int>(ExitCode::collective)) {
            // Rank 0 knows that a rank was lost; what all ranks left tells which, and where it was.
            record.attempt.reason = report::find_cause(end_evidence(run.directory.string())).cause;
            store(record);
        }
        return end_of(record);
    }

    // Counted in run.json as well, so that a job that is always stopped too early is given up in the end.
    job::RunEnd stopped_before_it_began(const report::RunView& run) {
        report::RunRecord record;
        if (run.record) {
            record = *run.record;
            report::continue_from(record, *run.record);
        }
        job::RunDirectory::create_or_open(context_.options.run.dir);
        record.program = "mastic-train";
        record.version = version();
        record.attempt = {};
        record.attempt.started = started_;
        record.attempt.job_id = context_.job.slurm_job_id;
        record.attempt.first_step = record.attempt.last_step = newest_checkpoint_step();
        report::finish(record, ExitCode::requeue, "stopped while it was starting", report::now());
        store(record);
        return end_of(record);
    }

    const CommandContext& context_;
    int launcher_code_;
    report::Time started_;
    bool told_;
};

// The job's code stays the run's if this fails: what is left to do is told.
void submit_again(const job::SlurmJob& slurm, const std::vector<std::string>& arguments,
                  const std::vector<std::string>& lost_nodes, const CommandRunner& run) {
    const std::vector<std::string> rest(arguments.begin() + 4, arguments.end());
    const auto command = job::resubmission(slurm, process_environment(), arguments.at(3), rest, lost_nodes);
    try {
        std::cout << "mastic-train: job " << job::submit(command, run) << " goes on, with the same log"
                  << std::endl;
    } catch (const Error& error) {
        std::cerr << "mastic-train: the run does not go on by itself: " << error.full_message() << std::endl;
    }
}

}  // namespace

// For scripts of the user's own: ranks that were killed could not say how it ended.
int finish_command(const CommandContext& context) {
    const auto& arguments = context.invocation.positionals;
    const std::string launcher_code = arguments.size() > 1 ? arguments[1] : "";
    if (!launcher_code.empty()) {
        parse_exit_code(launcher_code);
    }
    const report::RunView run = view_of(arguments.at(0));
    if (!run.record) {
        throw Error(ExitCode::usage, "there is no run.json in " + arguments[0], "the run has not started yet");
    }
    if (!run.owner.empty()) {
        throw Error(ExitCode::io, arguments[0] + " is in use by " + run.owner, "wait until it has ended");
    }
    report::RunRecord record = *run.record;
    if (record.attempt.exit_code) {
        std::cout << "run.json is complete already: exit code " << *record.attempt.exit_code << ", "
                  << record.attempt.reason << "\n";
        return 0;
    }
    const std::string reason = complete(record, run, launcher_code);
    const auto file = job::RunDirectory{run.directory}.summary_file();
    report::write_run_record(file, record);
    std::cout << "completed " << file.string() << ": " << reason << "\n";
    return 0;
}

// The end of slurm/train.sbatch. Signals that end the whole job reach this process too: it goes on all the same.
int settle_command(const CommandContext& context) {
    const job::SignalWatch signals;
    const auto& arguments = context.invocation.positionals;
    const int launcher_code = parse_exit_code(arguments.at(0));
    const report::Time started{
        std::chrono::seconds{parse_number<std::int64_t>(arguments.at(1), "a time", 1'000'000'000'000)}};
    const CommandRunner patient = job::patient_runner(run_command, [](const std::string& waits_for) {
        std::cerr << "mastic-train: " << waits_for << std::endl;
    });
    const job::SlurmJob slurm = job::ask_slurm_job(context.job.slurm_job_id, patient);
    const bool told = arguments.at(2) == "TERM" || arguments.at(2) == "USR1" || job::told_to_end(slurm, context.job.restart_count);
    job::RunEnd end = Settlement(context, launcher_code, started, told).end();
    if (end.code == static_cast<int>(ExitCode::collective)) {
        end.lost_nodes = job::lost_nodes(process_environment()("SLURM_JOB_NODELIST").value_or(""), run_command);
    }

    const job::Verdict verdict = job::judge(end, job::fate_of(slurm, context.job.restart_count),
                                            static_cast<int>(context.options.slurm.max_restarts));
    std::cout << "mastic-train: " << verdict.reason << std::endl;
    if (verdict.again) {
        submit_again(slurm, arguments, end.lost_nodes, patient);
    }
    return end.code;
}

}  // namespace mastic::engine
