#include <mastic/report/run_status.hpp>

#include <algorithm>

#include <mastic/core/duration.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/report/statistics.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::report {
namespace {

constexpr std::size_t steps_of_now = 20;

std::string after_failure(int code) {
    switch (static_cast<ExitCode>(code)) {
        case ExitCode::usage:
            return "correct the command line or configuration; --dry-run checks it without training";
        case ExitCode::data:
            return "correct the input data named above; --dry-run checks it without training";
        case ExitCode::environment:
            return "correct how the program is started (srun --mpi=pmi2, GPU, MPS); --dry-run checks it";
        case ExitCode::io:
            return "free space or repair permissions, then start it again with the same command: it resumes";
        case ExitCode::checkpoint:
            return "--checkpoint.verify shows what is damaged; restore the checkpoints, or start anew in "
                   "another run directory";
        case ExitCode::collective:
            return "read the logs of the ranks in the run directory, then start it again: it resumes";
        case ExitCode::non_finite:
            return "lower the learning rate or clip gradients, then start it again: it resumes before the "
                   "failure";
        case ExitCode::memory:
            return "lower the batch per rank or use more ranks, then start it again: it resumes";
        default:
            return "read the logs in the run directory, then start it again: it resumes";
    }
}

std::string loss_text(const Metrics& metrics) {
    std::string text = "loss " + significant(metrics.steps.back().loss);
    if (!metrics.evaluations.empty()) {
        const EvaluationRecord& evaluation = metrics.evaluations.back();
        text += ", " + evaluation.split + " at step " + grouped(evaluation.step) + ": loss " +
                significant(evaluation.loss);
        for (const auto& [name, value] : evaluation.metrics) {
            text += ", " + name + " " + metric_value(name, value);
        }
    }
    return text;
}

std::string remaining_text(const RunRecord& record, const Metrics& metrics) {
    const double rate = median_rate(metrics, steps_of_now);
    const auto left = static_cast<double>(record.planned_samples - metrics.steps.back().samples);
    if (record.planned_samples <= 0 || !(rate > 0)) {
        return "";
    }
    return human(Seconds(std::max(0.0, left) / rate));
}

std::string state_text(const RunView& run) {
    const RunState state = state_of(run);
    std::string text = to_string(state);
    if (state == RunState::running) {
        return text + ": " + run.owner;
    }
    if (run.record && run.record->attempt.exit_code) {
        text += ", exit code " + std::to_string(*run.record->attempt.exit_code) + " (" +
                run.record->attempt.exit_name + ")";
    }
    if (run.record && !run.record->attempt.reason.empty()) {
        text += ": " + run.record->attempt.reason;
    }
    return text;
}

void add_progress(TextTable& table, const RunView& run) {
    const StepRecord& last = run.metrics.steps.back();
    std::string step = grouped(last.step) + ", epoch " + std::to_string(last.epoch + 1) + ", " +
                       grouped(last.samples) + " samples";
    if (run.record && run.record->planned_samples > 0) {
        step +=
            " (" +
            percent(static_cast<double>(last.samples) / static_cast<double>(run.record->planned_samples)) +
            ")";
    }
    table.rows.push_back({"step", step});
    table.rows.push_back({"quality", loss_text(run.metrics)});
    table.rows.push_back({"speed", scaled(median_rate(run.metrics, steps_of_now)) + " samples/s on " +
                                       std::to_string(last.world_size) + " ranks"});
    if (state_of(run) == RunState::running && run.record) {
        if (const std::string remaining = remaining_text(*run.record, run.metrics); !remaining.empty()) {
            table.rows.push_back({"remaining", "about " + remaining});
        }
    }
}

}  // namespace

const char* to_string(RunState state) {
    switch (state) {
        case RunState::empty:
            return "not started";
        case RunState::running:
            return "running";
        case RunState::finished:
            return "finished";
        case RunState::stopped:
            return "stopped early";
        case RunState::failed:
            return "failed";
        case RunState::crashed:
            return "crashed";
    }
    return "unknown";
}

RunView load_run(const std::filesystem::path& directory, Time now, std::uint64_t last_bytes) {
    RunView run;
    run.directory = directory;
    run.now = now;
    if (const auto path = directory / "run.json"; std::filesystem::exists(path)) {
        run.record = read_run_record(path);
    }
    if (const auto path = directory / "metrics.jsonl"; std::filesystem::exists(path)) {
        run.metrics = read_metrics(path, last_bytes);
    }
    return run;
}

RunState state_of(const RunView& run) {
    if (!run.owner.empty()) {
        return RunState::running;
    }
    if (!run.record) {
        return run.metrics.steps.empty() && run.metrics.events.empty() ? RunState::empty : RunState::crashed;
    }
    if (!run.record->attempt.exit_code) {
        return RunState::crashed;
    }
    const auto code = static_cast<ExitCode>(*run.record->attempt.exit_code);
    return code == ExitCode::done      ? RunState::finished
           : code == ExitCode::requeue ? RunState::stopped
                                       : RunState::failed;
}

double median_rate(const Metrics& metrics, std::size_t last_steps) {
    std::vector<double> rates;
    for (auto step = metrics.steps.rbegin(); step != metrics.steps.rend() && rates.size() < last_steps;
         ++step) {
        rates.push_back(step->samples_per_s);
    }
    return median(std::move(rates));
}

std::string next_action(RunState state, std::optional<int> exit_code) {
    switch (state) {
        case RunState::empty:
            return "start a training in this directory";
        case RunState::running:
            return "let it run, or send it SIGUSR1 (scancel --signal=USR1 JOB): it saves and stops with code "
                   "75";
        case RunState::finished:
            return "look at the curves with `report`, or use the weights with `evaluate`, `predict`, "
                   "`export`";
        case RunState::stopped:
            return "start it again with the same command: it resumes from the newest checkpoint";
        case RunState::failed:
            return after_failure(exit_code.value_or(1));
        case RunState::crashed:
            return "it was killed without a word: see the log of the job, then start it again: it resumes";
    }
    return "";
}

std::string status_text(const RunView& run) {
    TextTable table;
    table.header = {"run", run.directory.string()};
    table.rows.push_back({"state", state_text(run)});
    if (run.record) {
        const RunAttempt& attempt = run.record->attempt;
        std::string started = to_string(attempt.started);
        if (const Seconds span = attempt.ended.value_or(run.now) - attempt.started;
            attempt.ended || !run.owner.empty()) {
            started += attempt.ended ? ", ran " + human(span) : ", running for " + human(span);
        }
        if (!run.record->restarts.empty()) {
            started += ", start number " + std::to_string(run.record->restarts.size() + 1);
        }
        table.rows.push_back({"started", started});
    }
    if (!run.metrics.steps.empty()) {
        add_progress(table, run);
    }
    if (run.record && run.record->best) {
        const BestMetric& best = *run.record->best;
        table.rows.push_back({"best", best.name + " " + metric_value(best.name, best.value) + " at step " +
                                          grouped(best.step)});
    }
    std::string checkpoint = run.newest_checkpoint;
    if (checkpoint.empty() && run.record && !run.record->checkpoints.empty()) {
        checkpoint = run.record->checkpoints.back();
    }
    table.rows.push_back({"checkpoint", checkpoint.empty() ? "none yet" : checkpoint});
    const auto code = run.record ? run.record->attempt.exit_code : std::nullopt;
    table.rows.push_back({"next", next_action(state_of(run), code)});
    return to_text(table);
}

}  // namespace mastic::report
