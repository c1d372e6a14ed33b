#include <algorithm>
#include <sstream>
#include <vector>

#include <mastic/core/error.hpp>
#include <mastic/job/slurm_record.hpp>

namespace mastic::job {
namespace {

constexpr const char* sacct_columns = "JobID,State,Reason,ExitCode,NodeList,End,Timelimit,WorkDir";

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

// "NAME=value" words; a value may hold blanks, so it ends where the next name begins.
std::string field(const std::string& text, const std::string& name) {
    const std::string key = " " + name + "=";
    const std::string padded = " " + text;
    const std::size_t at = padded.find(key);
    if (at == std::string::npos) {
        return "";
    }
    const std::size_t begin = at + key.size();
    const std::size_t end = std::min(padded.find_first_of(" \n", begin), padded.size());
    return told(padded.substr(begin, end - begin));
}

}  // namespace

std::optional<SlurmRecord> parse_sacct(const std::string& text) {
    const std::vector<std::string> cells = cells_of(text.substr(0, text.find('\n')));
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

std::optional<SlurmRecord> parse_scontrol(const std::string& text) {
    SlurmRecord record;
    record.job_id = field(text, "JobId");
    record.state = field(text, "JobState");
    if (record.job_id.empty() || record.state.empty()) {
        return std::nullopt;
    }
    record.reason = field(text, "Reason");
    record.exit = field(text, "ExitCode");
    record.nodes = field(text, "NodeList");
    record.time_limit = field(text, "TimeLimit");
    record.directory = field(text, "WorkDir");
    record.log = field(text, "StdOut");
    const std::string restarts = field(text, "Restarts");
    record.restarts = restarts.empty() ? 0 : std::atoi(restarts.c_str());
    const bool over = record.state != "RUNNING" && record.state != "PENDING" && record.state != "SUSPENDED";
    record.ended = over ? field(text, "EndTime") : "";
    return record;
}

std::optional<SlurmRecord> find_slurm_record(const std::string& job_id, const CommandRunner& run, Seconds timeout) {
    if (job_id.empty() || job_id.find_first_not_of("0123456789_") != std::string::npos) {
        throw Error(ExitCode::usage, "'" + job_id + "' is not the id of a Slurm job", "give a number, as squeue shows it");
    }
    const CommandResult accounting =
        run({"sacct", "-j", job_id, "-X", "-n", "--parsable2", "-o", sacct_columns}, timeout);
    if (accounting.exit_code == 0) {
        if (auto record = parse_sacct(accounting.output)) {
            return record;
        }
    }
    const CommandResult controller = run({"scontrol", "-o", "show", "job", job_id}, timeout);
    return controller.exit_code == 0 ? parse_scontrol(controller.output) : std::nullopt;
}

}  // namespace mastic::job
