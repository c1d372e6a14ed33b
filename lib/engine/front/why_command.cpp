// why RUN_DIR|JOBID: gathers what is known of a run's end and tells what happened first.
#include <mastic/engine/front/run_commands.hpp>

#include <algorithm>
#include <iostream>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/engine/front/run_view.hpp>
#include <mastic/report/post_mortem.hpp>

namespace mastic::engine {
namespace {

namespace fs = std::filesystem;

// Run directories lie a few folders below where jobs are submitted.
constexpr int search_depth = 4;

bool is_job_id(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789_") == std::string::npos;
}

bool ran_in(const report::RunRecord& record, const std::string& job_id) {
    return record.attempt.job_id == job_id ||
           std::ranges::any_of(record.restarts, [&](const auto& attempt) { return attempt.job_id == job_id; });
}

std::optional<fs::path> find_run(const fs::path& below, const std::string& job_id) {
    const auto skip = fs::directory_options::skip_permission_denied;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(below, skip, error), end; !error && entry != end; entry.increment(error)) {
        if (entry.depth() >= search_depth) {
            entry.disable_recursion_pending();
        }
        if (entry->path().filename() != "run.json") {
            continue;
        }
        try {
            if (ran_in(report::read_run_record(entry->path()), job_id)) {
                return entry->path().parent_path();
            }
        } catch (const Error&) {
            continue;  // not one of ours
        }
    }
    return std::nullopt;
}

fs::path find_run_of_job(const std::string& job_id, const std::optional<job::SlurmRecord>& slurm) {
    std::vector<fs::path> places = {fs::current_path()};
    if (slurm && !slurm->directory.empty()) {
        places.push_back(slurm->directory);
    }
    for (const fs::path& place : places) {
        if (const auto found = find_run(place, job_id)) {
            return *found;
        }
    }
    throw Error(ExitCode::usage, "no run of job " + job_id + " below " + places.front().string() +
                                     (places.size() > 1 ? " or " + places.back().string() : ""),
                slurm ? "Slurm says: " + slurm->state + " " + slurm->reason + "; did the program start? see " +
                            (slurm->log.empty() ? "the job's log" : slurm->log)
                      : "name the run directory");
}

}  // namespace

int why_command(const CommandContext& context) {
    const std::string& named = context.invocation.positionals.at(0);
    std::optional<job::SlurmRecord> slurm;
    fs::path path = named;
    if (!fs::is_directory(path) && is_job_id(named)) {
        slurm = job::find_slurm_record(named, run_command);
        path = find_run_of_job(slurm ? slurm->job_id : named, slurm);  // run.json has the number of 12_3
    }
    report::EndEvidence evidence = end_evidence(path.string());
    const std::string job_id = evidence.run.record ? evidence.run.record->attempt.job_id : "";
    evidence.slurm = slurm || job_id.empty() ? slurm : job::find_slurm_record(job_id, run_command);
    std::error_code unreadable;
    if (evidence.slurm && fs::is_regular_file(evidence.slurm->log, unreadable)) {
        const std::string log = read_text_file(evidence.slurm->log);
        evidence.task_ends = job::read_task_ends(log);
        if (const std::string next = job::read_successor(log); !next.empty() && next != job_id) {
            evidence.successor = job::find_slurm_record(next, run_command);
        }
    }
    std::cout << report::post_mortem_text(evidence);
    return 0;
}

}  // namespace mastic::engine
