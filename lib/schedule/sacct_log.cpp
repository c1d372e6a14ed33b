#include <algorithm>
#include <optional>

#include <mastic/core/error.hpp>
#include <mastic/job/deadline.hpp>
#include <mastic/schedule/job_log.hpp>

namespace mastic::schedule {
namespace {

struct Columns {
    std::size_t start;
    std::size_t end;
    std::size_t nodes;
    std::optional<std::size_t> id;
    std::size_t count;
};

std::optional<std::size_t> column(const std::vector<std::string_view>& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? std::nullopt : std::optional<std::size_t>(found - names.begin());
}

Columns columns_of(std::string_view header, const std::string& source) {
    const auto names = split(header, '|');
    const auto required = [&](std::string_view name) {
        const auto found = column(names, name);
        if (!found) {
            throw Error(
                ExitCode::data, source + ": no column '" + std::string(name) + "' in the header",
                "export it with: sacct -a -P -X -o JobID,State,Start,End,NNodes -S FIRST_DAY -E LAST_DAY");
        }
        return *found;
    };
    return {required("Start"), required("End"), required("NNodes"), column(names, "JobID"), names.size()};
}

std::optional<double> seconds(std::string_view stamp) {
    const auto at = job::parse_slurm_timestamp(stamp);
    return at ? std::optional(std::chrono::duration<double>(at->time_since_epoch()).count()) : std::nullopt;
}

std::string quoted(std::string_view cell) {
    return "'" + std::string(cell.substr(0, 30)) + "'";
}

std::optional<LoggedJob> job_of(const std::vector<std::string_view>& cells, const Columns& columns,
                                std::string& why) {
    const auto begin = seconds(cells[columns.start]);
    const auto end = seconds(cells[columns.end]);
    const auto nodes = parse_integer(cells[columns.nodes]);
    if (!begin || !end) {
        const std::string_view bad = begin ? cells[columns.end] : cells[columns.start];
        why = quoted(bad) + " is no time: it never started, or still runs";
    } else if (*end < *begin) {
        why = "it ends before it starts";
    } else if (!nodes || *nodes < 0 || *nodes > most_nodes) {
        why = quoted(cells[columns.nodes]) + " is no number of nodes";
    } else {
        return LoggedJob{*begin, *end, static_cast<int>(*nodes)};
    }
    return std::nullopt;
}

bool is_step(const std::vector<std::string_view>& cells, const Columns& columns) {
    return columns.id && *columns.id < cells.size() && cells[*columns.id].find('.') != std::string_view::npos;
}

}  // namespace

JobLog parse_sacct(std::string_view text, OddRows& odd) {
    JobLog log;
    std::optional<Columns> columns;
    LineReader lines(text);
    std::string_view line;
    while (lines.read(line)) {
        if (line.empty()) {
            continue;
        }
        if (!columns) {
            columns = columns_of(line, odd.source());
            continue;
        }
        // -p ends each line with a separator, header included; -P does not.
        const auto cells = split(line, '|');
        std::string why =
            std::to_string(cells.size()) + " cells instead of " + std::to_string(columns->count);
        if (is_step(cells, *columns)) {
            continue;
        }
        const auto job = cells.size() == columns->count ? job_of(cells, *columns, why) : std::nullopt;
        if (!job) {
            odd.add(lines.number(), why);
        } else if (job->nodes > 0 && job->end > job->begin) {
            log.jobs.push_back(*job);
        }
    }
    if (!columns) {
        throw Error(ExitCode::data, odd.source() + ": empty", "is it the right file?");
    }
    return log;
}

}  // namespace mastic::schedule
