#include <mastic/engine/front/run_view.hpp>

#include <filesystem>
#include <optional>

#include <mastic/checkpoint/store.hpp>
#include <mastic/core/error.hpp>
#include <mastic/report/rank_failure.hpp>
#include <mastic/job/run_directory.hpp>

namespace mastic::engine {
namespace {

// Who holds the run, "" if nobody.
std::string owner_of(const job::RunDirectory& directory) {
    const std::optional<job::RunOwner> owner = directory.current_owner();
    if (!owner) {
        return "";
    }
    return (owner->job_id.empty() ? "" : "job " + owner->job_id + ", ") + "process " +
           std::to_string(owner->pid) + " on " + owner->host;
}

}  // namespace

report::RunView view_of(const std::string& path) {
    const job::RunDirectory directory{path};
    if (!std::filesystem::is_directory(path)) {
        throw Error(ExitCode::usage, "there is no run directory " + path, "see --run.dir of the training");
    }
    report::RunView run = report::load_run(path, report::now());
    run.owner = owner_of(directory);
    const auto generations = checkpoint::CheckpointStore(directory.checkpoints()).list();
    if (!generations.empty()) {
        run.newest_checkpoint = "checkpoints/" + generations.front().name();
    }
    return run;
}

report::EndEvidence end_evidence(const std::string& path) {
    const job::RunDirectory directory(path);
    report::EndEvidence evidence;
    evidence.run = view_of(path);
    evidence.ranks = job::read_last_moments(directory.ranks());
    evidence.crashes = job::read_crash_reports(directory.ranks(), run_command);
    evidence.failure = report::read_rank_failure(directory);
    return evidence;
}

}  // namespace mastic::engine
