// Commands that only read run directories.
#include <mastic/engine/front/run_commands.hpp>

#include <iostream>

#include <mastic/checkpoint/verify.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/engine/front/run_view.hpp>
#include <mastic/job/run_directory.hpp>
#include <mastic/model/model_catalog.hpp>
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
    const report::RunView run = view_of(context.invocation.positionals.at(0));
    std::cout << report::status_text(run);
    return 0;
}

int compare_command(const CommandContext& context) {
    std::vector<report::ComparedRun> runs;
    for (const std::string& path : context.invocation.positionals) {
        report::ComparedRun compared{path, view_of(path), {}};
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
    write_file_atomically(out, report::training_report(view_of(path), stored_config(path)));
    std::cout << "wrote " << out << ": open it in a browser\n";
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
    for (const model::ModelDescription& kind : model::model_catalog()) {
        std::cout << kind.name << std::string(kind.name.size() < 14 ? 14 - kind.name.size() : 1, ' ')
                  << kind.description << "\n";
    }
    std::cout << "or any TorchScript file: --model.file FILE\n";
    return 0;
}

}  // namespace mastic::engine
