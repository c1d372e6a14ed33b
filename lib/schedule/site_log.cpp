#include <mastic/schedule/site_log.hpp>

#include <algorithm>

#include <mastic/core/error.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/schedule/log_file.hpp>

namespace mastic::schedule {
namespace {

constexpr std::size_t least_swf_numbers = 11;  // the last fields of real logs are not always numbers

bool looks_like_swf(std::string_view line) {
    const auto fields = words(line);
    return fields.size() >= least_swf_numbers &&
           std::all_of(fields.begin(), fields.begin() + least_swf_numbers,
                       [](std::string_view field) { return parse_number(field).has_value(); });
}

std::string overcommit_note(const DerivedTrace& derived) {
    if (derived.overcommitted_node_seconds <= 0) {
        return "";
    }
    return "The log's jobs used up to " + report::grouped(derived.most_used) +
           " nodes at a time, the machine has " + report::grouped(derived.trace.nodes) + ": " +
           report::significant(derived.overcommitted_node_seconds / 3600, 3) +
           " node-hours are over-committed. If nodes are shared, give the number of cores per node; else "
           "give the "
           "number of nodes.";
}

IdleTrace first_nodes(IdleTrace trace, int nodes) {
    return nodes > 0 && nodes < trace.nodes ? trace.first_nodes(nodes) : trace;
}

}  // namespace

std::string recognised_format(std::string_view text) {
    LineReader lines(text);
    std::string_view line;
    while (lines.read(line)) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        if (line[0] == ';' || looks_like_swf(line)) {
            return "swf";
        }
        if (line.find('|') != line.npos) {
            return "sacct";
        }
        return line.find("time_s") != line.npos ? "idle-csv" : "";
    }
    return "";
}

SiteLog read_site_log(const std::filesystem::path& path, const SiteLogOptions& options) {
    const LogFile file(path);
    const std::string format = options.format == "auto" ? recognised_format(file.text()) : options.format;
    SiteLog log{format, {}, OddRows(path.string(), options.strict), ""};
    if (format == "idle-csv") {
        log.trace = first_nodes(parse_idle_csv(file.text(), log.odd), options.nodes);
        return log;
    }
    if (format != "swf" && format != "sacct") {
        throw Error(ExitCode::usage, path.string() + ": its format is not recognised",
                    "say which it is: --log.format idle-csv, swf or sacct");
    }
    const JobLog jobs = format == "swf" ? parse_swf(file.text(), options.cores_per_node, log.odd)
                                        : parse_sacct(file.text(), log.odd);
    DerivedTrace derived = idle_trace_of(jobs, options.nodes);
    log.note = overcommit_note(derived);
    log.trace = std::move(derived.trace);
    return log;
}

}  // namespace mastic::schedule
