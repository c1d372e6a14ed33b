#include <algorithm>
#include <cmath>
#include <optional>

#include <mastic/schedule/job_log.hpp>

namespace mastic::schedule {
namespace {

constexpr std::size_t least_fields = 18;  // the format's; some archives append more
constexpr double latest = 1e10;           // seconds

enum Field : std::size_t { submit = 1, wait = 2, run = 3, processors = 4 };

struct Header {
    std::int64_t nodes = 0;
    std::int64_t processors = 0;

    // "; MaxNodes: 128" and the like.
    void read(std::string_view comment) {
        const auto colon = comment.find(':');
        if (colon == comment.npos) {
            return;
        }
        const std::string_view key = trimmed(comment.substr(0, colon));
        const auto values = words(comment.substr(colon + 1));
        const auto value = values.empty() ? std::nullopt : parse_integer(values[0]);
        if (value && *value > 0 && *value <= most_nodes * 1000LL) {
            (key == "MaxNodes" ? nodes : key == "MaxProcs" ? processors : ignored) = *value;
        }
    }
    std::int64_t cores_per_node() const {
        return nodes > 0 && processors > nodes ? (processors + nodes - 1) / nodes : 1;
    }

  private:
    std::int64_t ignored = 0;
};

// The job, or why there is none.
std::optional<LoggedJob> job_of(const std::vector<std::string_view>& fields, std::int64_t cores,
                                std::string& why) {
    if (fields.size() < least_fields) {
        why = std::to_string(fields.size()) + " fields instead of " + std::to_string(least_fields);
        return std::nullopt;
    }
    double numbers[5] = {};
    for (const Field field : {submit, wait, run, processors}) {
        const auto number = parse_number(fields[field]);
        if (!number || std::abs(*number) > latest) {
            why = "field " + std::to_string(field + 1) + " is '" + std::string(fields[field].substr(0, 20)) +
                  "', no number";
            return std::nullopt;
        }
        numbers[field] = *number;
    }
    if (numbers[submit] < 0 || numbers[run] <= 0 || numbers[processors] <= 0) {
        why = "it never ran, or its time or processors are unknown (-1)";
        return std::nullopt;
    }
    const double nodes = std::ceil(numbers[processors] / static_cast<double>(cores));
    if (nodes > most_nodes) {
        why = "more than a million nodes";
        return std::nullopt;
    }
    const double begin = numbers[submit] + std::max(0.0, numbers[wait]);  // -1: unknown
    return LoggedJob{begin, begin + numbers[run], static_cast<int>(nodes)};
}

}  // namespace

JobLog parse_swf(std::string_view text, int cores_per_node, OddRows& odd) {
    JobLog log;
    Header header;
    LineReader lines(text);
    std::string_view line;
    while (lines.read(line)) {
        if (line.empty()) {
            continue;
        }
        if (line[0] == ';') {
            header.read(line.substr(1));
            continue;
        }
        const std::int64_t cores = cores_per_node > 0 ? cores_per_node : header.cores_per_node();
        std::string why;
        if (const auto job = job_of(words(line), cores, why)) {
            log.jobs.push_back(*job);
        } else {
            odd.add(lines.number(), why);
        }
    }
    const std::int64_t cores = cores_per_node > 0 ? cores_per_node : header.cores_per_node();
    const std::int64_t nodes = header.nodes > 0 ? header.nodes : (header.processors + cores - 1) / cores;
    log.machine_nodes = static_cast<int>(std::min<std::int64_t>(nodes, most_nodes));
    return log;
}

}  // namespace mastic::schedule
