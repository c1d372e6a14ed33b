#include <mastic/job/slurm_record.hpp>

#include <algorithm>
#include <sstream>
#include <vector>

#include <mastic/core/error.hpp>

namespace mastic::job {
namespace {

constexpr const char* sacct_columns = "JobIDRaw,State,Reason,ExitCode,NodeList,End,Timelimit,WorkDir";

// Slurm's words for "nothing to say".
std::string told(std::string value) {
    for (const char* nothing : {"None", "Unknown", "(null)", "None assigned", "N/A"}) {
        if (value == nothing) {
            return "";
        }
    }
    return value;
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '|');) {
        cells.push_back(told(cell));
    }
    return cells;
}

}  // namespace

std::optional<SlurmRecord> parse_sacct(const std::string& text, const std::string& job_id) {
    const std::size_t own = ("\n" + text).find("\n" + job_id + "|");
    const std::string rest = text.substr(own == text.npos || job_id.empty() ? 0 : own);
    const std::vector<std::string> cells = cells_of(rest.substr(0, rest.find('\n')));
    if (cells.size() < 7 || cells[0].empty()) {
        return std::nullopt;
    }
    SlurmRecord record;
    record.job_id = cells[0];
    record.state = cells[1].substr(0, cells[1].find(' '));  // "CANCELLED by 1000"
    record.reason = cells[2];
    record.exit = cells[3];
    record.nodes = cells[4];
    record.ended = cells[5];
    record.time_limit = cells[6];
    record.directory = cells.size() > 7 ? cells[7] : "";
    return record;
}

std::optional<SlurmRecord> record_of(const SlurmJob& job) {
    const auto field = [&job](const char* name) {
        const auto found = job.find(name);
        return found == job.end() ? std::string() : found->second;
    };
    SlurmRecord record;
    record.job_id = field("JobId");
    record.state = field("JobState");
    if (record.job_id.empty() || record.state.empty()) {
        return std::nullopt;
    }
    record.reason = field("Reason");
    record.exit = field("ExitCode");
    record.nodes = field("NodeList");
    record.time_limit = field("TimeLimit");
    record.directory = field("WorkDir");
    record.log = field("StdOut");
    const bool over = record.state != "RUNNING" && record.state != "PENDING" && record.state != "SUSPENDED";
    record.ended = over ? field("EndTime") : "";
    return record;
}

std::optional<SlurmRecord> find_slurm_record(const std::string& job_id, const CommandRunner& run, Seconds timeout) {
    if (job_id.empty() || job_id.find_first_not_of("0123456789_") != std::string::npos) {
        throw Error(ExitCode::usage, "'" + job_id + "' is not the id of a Slurm job", "give a number, as squeue shows it");
    }
    const CommandResult accounting =
        run({"sacct", "-j", job_id, "-X", "-n", "--parsable2", "-o", sacct_columns}, timeout);
    if (accounting.exit_code == 0) {
        if (auto record = parse_sacct(accounting.output, job_id)) {
            return record;
        }
    }
    return record_of(ask_slurm_job(job_id, run, timeout));
}

}  // namespace mastic::job
