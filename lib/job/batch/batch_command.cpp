#include <mastic/job/batch/batch_command.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/own_program.hpp>
#include <mastic/job/batch/resubmission.hpp>
#include <mastic/job/batch/shell_words.hpp>
#include <mastic/job/batch/slurm_site.hpp>
#include <mastic/job/batch/srun_mpi.hpp>

namespace mastic::job {
namespace {

namespace fs = std::filesystem;

std::string srun_mpi_of(const BatchCall& call, const std::vector<std::string>& offered) {
    if (call.options.mpi != "auto") {
        return call.options.mpi;
    }
    const std::string required = required_srun_mpi(call.mpi_library());
    check_srun_mpi(required, offered);
    return required;
}

std::string script_for(const BatchCall& call, const SlurmSite& site) {
    FittedOptions fitted = fit_to_site(call.options, site);
    if (call.ranks_per_gpu > 0) {
        fitted.options.ranks_per_node = call.ranks_per_gpu * fitted.options.gpus_per_node;
    }
    BatchRequest request;
    request.work = call.work;
    request.options = std::move(fitted.options);
    request.options.mpi = srun_mpi_of(call, site.mpi_types);
    request.sharing = call.sharing;
    request.arguments = call.arguments;
    request.program_directory = own_program().parent_path().string();
    request.working_directory = fs::current_path().string();
    request.notes = std::move(fitted.notes);
    return batch_script(request);
}

// The job writes its log where it is submitted. Slurm reads % and \ of that path as signs of a pattern, and a job that cannot
// write it dies without a word.
void check_log_directory(const SlurmOptions& options) {
    const bool elsewhere = std::ranges::any_of(options.extra, [](const std::string& line) {
        return line.starts_with("--output") || line.starts_with("-o");
    });
    if (elsewhere) {
        return;
    }
    const std::string here = fs::current_path().string();
    const char* const otherwise = "go to another directory, or name the log: --slurm.extra=--output=/PATH/%x-%j.log";
    if (here.find_first_of("%\\") != here.npos) {
        throw Error(ExitCode::usage, "Slurm cannot write the job's log in " + here + ": its path has a % or a \\", otherwise);
    }
    if (::access(here.c_str(), W_OK) != 0) {
        throw Error(ExitCode::io, "the job's log cannot be written in " + here + ": " + std::strerror(errno), otherwise);
    }
}

std::string submit_script(const BatchCall& call, const SlurmSite& site, const CommandRunner& run) {
    if (!site.problem.empty()) {
        throw Error(ExitCode::environment, "nothing was submitted: " + site.problem,
                    "log in where sbatch works, or take the script of --print-sbatch there");
    }
    const std::string text = script_for(call, site);
    check_log_directory(call.options);
    const fs::path script = fs::absolute(call.script);  // a relative one may begin with a dash
    std::error_code error;
    fs::create_directories(script.parent_path(), error);
    if (error) {
        throw_file_error("create", script.parent_path(), error.value());
    }
    write_file_atomically(script, text, 0755);
    const std::string id = submit({"sbatch", "--parsable", script.string()}, run);
    const SlurmJob job = ask_slurm_job(id, run);
    const auto log = job.find("StdOut");
    std::string next_steps = call.next_steps;
    for (auto at = next_steps.find("JOB"); at != next_steps.npos;
         at = next_steps.find("JOB", at + id.size())) {
        next_steps.replace(at, 3, id);
    }
    return "submitted job " + id + " (" + call.script.string() + ")\n" +
           (log == job.end() ? "" : "  log       tail -F " + shell_word(log->second) + "\n") + "  queue     squeue -j " +
           id + "\n" + next_steps + "  stop      scancel " + id + "\n";
}

}  // namespace

std::vector<std::string> without_batch_switches(std::vector<std::string> words) {
    std::erase_if(words, [](const std::string& word) {
        return word == "--print-sbatch" || word == "--submit" || word == "--dry-run";
    });
    return words;
}

bool asks_for_batch_script(const SlurmOptions& options) {
    return options.print_sbatch || options.submit;
}

void refuse_script_of_other_commands(const SlurmOptions& options, const std::string& command,
                                     const std::string& for_command, const std::string& place) {
    if (asks_for_batch_script(options) && !command.empty() && command != for_command) {
        throw Error(ExitCode::usage, "there is no batch script for the command " + command,
                    "--print-sbatch and --submit are for " + place);
    }
}

std::optional<std::string> answer_batch_call(const BatchCall& call, const Environment& environment,
                                             const CommandRunner& run) {
    const SlurmOptions& options = call.options;
    if (options.print_mpi) {
        return srun_mpi_of(call, ask_srun_mpi_types(run)) + "\n";
    }
    if (!asks_for_batch_script(options)) {
        return std::nullopt;
    }
    const SlurmSite site = survey_slurm_site(environment("USER").value_or(""), run);
    return options.print_sbatch || call.dry_run ? script_for(call, site) : submit_script(call, site, run);
}

}  // namespace mastic::job
