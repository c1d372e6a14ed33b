// Commands that only read and complete run directories.
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include <mastic/checkpoint/store.hpp>
#include <mastic/checkpoint/verify.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/engine/command_context.hpp>
#include <mastic/engine/rank_failure.hpp>
#include <mastic/engine/run_files.hpp>
#include <mastic/engine/run_view.hpp>
#include <mastic/job/run_directory.hpp>
#include <mastic/model/registry.hpp>
#include <mastic/report/config_listing.hpp>
#include <mastic/report/run_comparison.hpp>
#include <mastic/report/run_status.hpp>
#include <mastic/report/training_report.hpp>

namespace mastic::engine {
namespace {

std::string stored_config(const std::string& path) {
    const std::filesystem::path file = job::RunDirectory{path}.config_file();
    return std::filesystem::exists(file) ? read_text_file(file) : "";
}

}  // namespace

int status_command(const CommandContext& context) {
    const report::RunView run = view_of_run(context.invocation.positionals.at(0));
    std::cout << report::status_text(run);
    return 0;
}

int compare_command(const CommandContext& context) {
    std::vector<report::ComparedRun> runs;
    for (const std::string& path : context.invocation.positionals) {
        report::ComparedRun compared{path, view_of_run(path), {}};
        for (const report::ConfigLine& line :
             report::config_listing(stored_config(path)).value_or(std::vector<report::ConfigLine>{})) {
            compared.config[line.key] = line.value;
        }
        runs.push_back(std::move(compared));
    }
    std::cout << report::compare_table(runs);
    return 0;
}

int report_command(const CommandContext& context) {
    const auto& arguments = context.invocation.positionals;
    const std::string& path = arguments.at(0);
    const std::string out = arguments.size() > 1 ? arguments[1] : path + "/report.html";
    write_file_atomically(out, report::training_report(view_of_run(path), stored_config(path)));
    std::cout << "wrote " << out << ": open it in a browser\n";
    return 0;
}

namespace {

struct RunFailure {
    ExitCode code = ExitCode::collective;
    std::string reason;
};

// A rank that failed alone has left its reason. Else ranks were killed, whatever code the launcher gave: it may be the
// number of a signal, and never means that the run is done.
RunFailure what_ended(const job::RunDirectory& directory, const report::EndEvidence& evidence,
                      const std::string& launcher_code) {
    if (!launcher_code.empty() && (launcher_code.size() > 3 ||
                                   launcher_code.find_first_not_of("0123456789") != launcher_code.npos)) {
        throw Error(ExitCode::usage, "finish: '" + launcher_code + "' is not an exit code",
                    "give a number from 0 to 255");
    }
    if (const auto failure = read_rank_failure(directory)) {
        return {failure->code, "rank " + std::to_string(failure->rank) + ": " + failure->message};
    }
    return {ExitCode::collective, report::find_cause(evidence).cause + (launcher_code.empty() ? "" : "; the launcher gave code " + launcher_code)};
}

}  // namespace

// A batch script calls this after srun: ranks that were killed could not say how it ended.
int finish_command(const CommandContext& context) {
    const auto& arguments = context.invocation.positionals;
    const job::RunDirectory directory{arguments.at(0)};
    const report::EndEvidence evidence = end_evidence(arguments.at(0));
    const report::RunView& run = evidence.run;
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
    const RunFailure failure = what_ended(directory, evidence, arguments.size() > 1 ? arguments[1] : "");
    if (!run.metrics.steps.empty()) {
        record.attempt.last_step = std::max(record.attempt.last_step, run.metrics.steps.back().step);
        record.samples = std::max(record.samples, run.metrics.steps.back().samples);
    }
    report::finish(record, failure.code, failure.reason, now());
    report::write_run_record(directory.summary_file(), record);
    std::cout << "completed " << directory.summary_file().string() << "\n";
    return 0;
}

int verify_command(const CommandContext& context) {
    const std::filesystem::path given = context.options.checkpoint.verify;
    const std::filesystem::path inside = job::RunDirectory{given}.checkpoints();
    if (std::filesystem::exists(inside) && !std::filesystem::is_directory(inside)) {
        throw Error(ExitCode::io, inside.string() + " is not a directory", "move it away");
    }
    const std::filesystem::path directory = std::filesystem::is_directory(inside) ? inside : given;
    if (!std::filesystem::is_directory(directory)) {
        throw Error(ExitCode::usage, "there is no directory " + given.string(), "name a run directory");
    }
    const checkpoint::VerifyReport result = checkpoint::verify(directory);
    std::cout << to_text(result);
    return result.all_valid() ? 0 : static_cast<int>(ExitCode::checkpoint);
}

int models_command(const CommandContext&) {
    for (const model::ModelKind& kind : model::model_kinds()) {
        std::cout << kind.name << std::string(kind.name.size() < 14 ? 14 - kind.name.size() : 1, ' ')
                  << kind.description << "\n";
    }
    std::cout << "or any TorchScript file: --model.file FILE\n";
    return 0;
}

}  // namespace mastic::engine
