#include <mastic/engine/run_files.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <unistd.h>

#include <spdlog/spdlog.h>

#include <mastic/checkpoint/store.hpp>
#include <mastic/config/resolved.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/log.hpp>
#include <mastic/core/version.hpp>
#include <mastic/engine/versions.hpp>

namespace mastic::engine {
namespace {

std::string environment_value(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

void write_to_terminal(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written <= 0) {
            return;  // a progress bar is not worth an error
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

void check_stored_config(const CommandContext& context, const job::RunDirectory& directory) {
    const std::string name = directory.config_file().string();
    std::string refused, needs_fork;
    for (const config::Change& change : config::compare(context.schema, read_text_file(name), name)) {
        if (change.rule == config::OnResume::refuse) {
            refused += "\n  " + change.text();
        } else if (change.rule == config::OnResume::fork && !context.options.fork) {
            needs_fork += "\n  " + change.text();
        } else {
            spdlog::info("changed since the checkpoint: {}", change.text());
        }
    }
    if (!refused.empty()) {
        throw Error(ExitCode::usage, "a run cannot go on with these options changed:" + refused,
                    "choose another --run.dir, or take the stored values (" + name + ")");
    }
    if (!needs_fork.empty()) {
        throw Error(ExitCode::usage, "these options shape the result and have changed since the checkpoint:" + needs_fork,
                    "--fork goes on with the new values; or choose another --run.dir");
    }
}

report::Progress::Options progress_options(const std::string& wanted) {
    report::Progress::Options options;
    options.terminal = wanted == "always" || on_terminal();
    options.unicode = report::writes_utf8(environment_value("LC_ALL"), environment_value("LC_CTYPE"),
                                          environment_value("LANG"));
    options.write = write_to_terminal;
    options.log = [](std::string_view line) { spdlog::info("{}", line); };
    return options;
}

RunFiles::RunFiles(const job::RunDirectory& directory, const CommandContext& context, std::vector<std::string> hosts,
                   std::uint64_t planned_samples)
    : directory_(directory), metrics_(directory.metrics_file()) {
    record_.program = "mastic-train";
    record_.version = version();
    record_.command_line = context.command_line;
    record_.attempt.started = report::now();
    record_.attempt.job_id = context.job.slurm_job_id;
    record_.attempt.world_size = static_cast<int>(hosts.size());
    std::ranges::sort(hosts);
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    record_.hosts = std::move(hosts);
    limited_by_steps_ = context.options.train.max_steps > 0;
    record_.planned_samples = static_cast<std::int64_t>(planned_samples);
    record_.libraries = library_versions();
    record_.libraries["BLAS"] = context.blas.text;
    if (std::filesystem::exists(directory.summary_file())) {
        try {
            const report::RunRecord previous = report::read_run_record(directory.summary_file());
            report::continue_from(record_, previous);
            record_.final_metrics = previous.final_metrics;
            record_.best = previous.best;
            earlier_checkpoints_ = previous.checkpoints;
            earlier_steps_ = previous.attempt.last_step;
        } catch (const Error& error) {
            spdlog::warn("{}: its history is lost", error.what());
        }
    }
}

void RunFiles::store_config(const CommandContext& context) {
    write_file_atomically(directory_.config_file(), config::to_toml(context.schema, false));
}

void RunFiles::started(const TrainState& state) {
    record_.attempt.first_step = state.step;
    record_.attempt.last_step = state.step;
    record_.samples = static_cast<std::int64_t>(state.samples);
    record_.best = state.best;
    write();
    report::EventRecord event;
    event.step = state.step;
    event.time_s = Seconds(std::chrono::steady_clock::now() - begin_).count();
    event.kind = state.step == 0 ? "start" : "resume";
    event.text = std::to_string(record_.attempt.world_size) + " ranks";
    metrics_.write(event);
}

void RunFiles::finished(const TrainResult& result, const TrainState& state, std::int64_t checkpoint_step) {
    record_.attempt.last_step = state.step;
    record_.samples = static_cast<std::int64_t>(state.samples);
    record_.best = state.best;
    if (result.evaluation) {
        record_.final_metrics = result.evaluation->metrics;
        record_.final_metrics["loss"] = result.evaluation->loss;
    }
    note_checkpoints();
    report::finish(record_, result.code, result.reason, report::now());
    write();
    report::EventRecord event;
    event.step = state.step;
    event.time_s = Seconds(std::chrono::steady_clock::now() - begin_).count();
    event.kind = "stop";
    event.text = result.reason;
    metrics_.write(event);

    const std::string directory = directory_.path().string();
    if (result.code == ExitCode::requeue) {
        spdlog::info("stopped by {} after step {}; the checkpoint is durable: start again in {} to go on", result.reason,
                     state.step, directory);
        return;
    }
    spdlog::info("finished after {} steps, {} samples, {}", state.step, state.samples,
                 human(Seconds(record_.attempt.ended.value() - record_.attempt.started)));
    if (state.best) {
        spdlog::info("best {} {:.4f}, at step {}", state.best->name, state.best->value, state.best->step);
    }
    if (checkpoint_step >= 0) {
        spdlog::info("newest checkpoint: step {} in {}", checkpoint_step, directory_.checkpoints().string());
    }
    spdlog::info("try next:  mastic-train report {0}  |  mastic-train export {0} {0}/model.pt  |  again with more {1}",
                 directory, limited_by_steps_ ? "--train.max_steps" : "--train.epochs");
}

void RunFiles::failed(const Error& error) {
    note_checkpoints();
    report::finish(record_, error.code(), error.what(), report::now());
    write();
}

void RunFiles::members(std::vector<std::string> hosts) {
    record_.attempt.world_size = static_cast<int>(hosts.size());
    record_.hosts.insert(record_.hosts.end(), hosts.begin(), hosts.end());
    std::ranges::sort(record_.hosts);
    record_.hosts.erase(std::unique(record_.hosts.begin(), record_.hosts.end()), record_.hosts.end());
    write();
}

void RunFiles::handed_over(const TrainResult& result, const TrainState& state) {
    record_.attempt.last_step = state.step;
    record_.samples = static_cast<std::int64_t>(state.samples);
    record_.best = state.best;
    note_checkpoints();
    report::finish(record_, result.code, result.reason, report::now());
    write();
}

void RunFiles::write() { report::write_run_record(directory_.summary_file(), record_); }

void RunFiles::note_checkpoints() {
    record_.checkpoints.clear();
    const auto generations = checkpoint::CheckpointStore(directory_.checkpoints()).list();
    for (auto generation = generations.rbegin(); generation != generations.rend(); ++generation) {
        record_.checkpoints.push_back("checkpoints/" + generation->name());
    }
}

}  // namespace mastic::engine
