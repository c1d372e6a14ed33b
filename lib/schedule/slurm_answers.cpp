#include <mastic/schedule/slurm_answers.hpp>

#include <algorithm>
#include <map>

#include <mastic/core/error.hpp>
#include <mastic/job/gres.hpp>
#include <mastic/job/host_list.hpp>

namespace mastic::schedule {
namespace {

// What a job asks for or has; the name comes last since it may hold any character.
constexpr const char* job_format = "--format=%i|%t|%P|%u|%D|%N|%S|%e|%Y|%Q|%C|%m|%b|%n|%x|%v|%r|%j";
constexpr std::size_t job_fields = 18;
constexpr const char* node_format = "--format=%N|%P|%a|%T|%C|%m|%G|%E";
constexpr std::size_t node_fields = 8;

Command without(std::initializer_list<const char*> variables, const Command& command) {
    Command whole = {"env"};
    for (const char* name : variables) {
        whole.insert(whole.end(), {"-u", name});
    }
    whole.push_back("SLURM_TIME_FORMAT=%s");
    whole.insert(whole.end(), command.begin(), command.end());
    return whole;
}

bool is_none(std::string_view text) {
    return text.empty() || text == "(null)" || text == "N/A" || text == "NONE" || text == "None" ||
           text == "UNLIMITED" || text == "Unknown";
}

std::string text_or_nothing(std::string_view text) {
    return is_none(text) ? "" : std::string(text);
}

// What cannot be understood in a row.
struct OddField {
    std::string reason;
};

[[noreturn]] void refuse(std::string_view what, std::string_view text) {
    throw OddField{"'" + std::string(text.substr(0, 40)) + "' is no " + std::string(what)};
}

// Exactly `count` pieces; the last one keeps the separators that are in it.
std::vector<std::string_view> fields_of(std::string_view row, std::size_t count) {
    std::vector<std::string_view> fields;
    while (fields.size() + 1 < count) {
        const auto at = row.find('|');
        if (at == row.npos) {
            throw OddField{std::to_string(fields.size() + 1) + " fields instead of " + std::to_string(count)};
        }
        fields.push_back(trimmed(row.substr(0, at)));
        row.remove_prefix(at + 1);
    }
    fields.push_back(trimmed(row));
    return fields;
}

std::optional<TimePoint> time_of(std::string_view text) {
    if (is_none(text)) {
        return std::nullopt;
    }
    const auto seconds = parse_integer(text);
    if (const auto time = seconds ? job::time_point_of(*seconds) : job::parse_slurm_timestamp(text)) {
        return time;
    }
    refuse("time", text);
}

TimePoint required_time(std::string_view text) {
    const auto time = time_of(text);
    if (!time) {
        refuse("time", text);
    }
    return *time;
}

// "12", and "2K" of a Slurm that shortens numbers all the same.
std::int64_t count_of(std::string_view text) {
    constexpr std::int64_t most = 1'000'000'000;
    const bool thousands = text.ends_with('K');
    const auto number = parse_integer(text.substr(0, text.size() - (thousands ? 1 : 0)));
    if (!number || *number < 0 || *number > most) {
        refuse("number", text);
    }
    return *number * (thousands ? 1024 : 1);
}

std::vector<std::string> hosts_of(std::string_view text) {
    if (is_none(text)) {
        return {};
    }
    try {
        return job::expand_host_list(text);
    } catch (const Error&) {
        refuse("list of nodes", text);
    }
}

std::vector<std::string> list_of(std::string_view text) {
    std::vector<std::string> items;
    for (const std::string_view item : split(text, ',')) {
        items.emplace_back(item);
    }
    return items;
}

// "4000M", "1.5G", "0"; what is per core ("100Mc") counts as not said, which fits any node.
std::int64_t megabytes_of(std::string_view text) {
    const std::size_t unit_at = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = parse_number(text.substr(0, unit_at));
    const std::map<std::string_view, double> units = {
        {"", 1}, {"K", 1.0 / 1024}, {"M", 1}, {"G", 1024}, {"T", 1048576}};
    const auto unit = units.find(text.substr(unit_at));
    if (!number || unit == units.end() || *number > 1e9) {
        return 0;
    }
    return static_cast<std::int64_t>(*number * unit->second);
}

void read_job(std::string_view row, Jobs& jobs) {
    const auto field = fields_of(row, job_fields);
    if (field[0].empty()) {
        throw OddField{"a job without number"};
    }
    if (field[1] != "PD") {
        jobs.running.push_back({std::string(field[0]), std::string(field[3]), std::string(field[2]),
                                std::string(field[17]), hosts_of(field[5]), time_of(field[7])});
        return;
    }
    QueuedJob job;
    job.id = field[0];
    job.user = field[3];
    job.partitions = list_of(field[2]);
    job.name = field[17];
    job.reason = field[16];
    job.nodes = std::max<std::int64_t>(1, count_of(field[4].substr(0, field[4].find('-', 1))));
    job.planned_start = time_of(field[6]);
    job.planned_nodes = hosts_of(field[8]);
    job.priority = parse_integer(field[9]).value_or(0);
    job.cpus = std::max<std::int64_t>(1, count_of(field[10]));
    job.memory_mb = megabytes_of(field[11]);
    job.gpus = job::gpus_in_gres(text_or_nothing(field[12]));
    job.required = hosts_of(field[13]);
    job.excluded = hosts_of(field[14]);
    job.reservation = text_or_nothing(field[15]);
    jobs.pending.push_back(std::move(job));
}

void read_node(std::string_view row, std::map<std::string, ClusterNode>& nodes) {
    const auto field = fields_of(row, node_fields);
    if (field[0].empty() || field[3].empty()) {
        throw OddField{"a node without name or state"};
    }
    const auto processors = split(field[4], '/');  // allocated/idle/other/total
    if (processors.size() != 4) {
        refuse("count of processors", field[4]);
    }
    const std::int64_t allocated = count_of(processors[0]);
    const std::int64_t cpus = count_of(processors[3]);
    const std::int64_t memory = count_of(field[5]);
    ClusterNode& node = nodes[std::string(field[0])];
    node.name = field[0];
    node.state = field[3];
    node.cpus = cpus;
    node.memory_mb = memory;
    node.gpus = job::gpus_in_gres(text_or_nothing(field[6]));
    node.planned = node.state == "planned";
    if (field[2] == "up") {
        const bool is_default = field[1].ends_with('*');
        node.partitions.emplace_back(field[1].substr(0, field[1].size() - (is_default ? 1 : 0)));
    }
    const std::string why = field[7] == "none" ? "" : ": " + std::string(field[7]);
    if (node.state != "idle" && node.state != "planned") {
        node.why_not = node.state + why;
    } else if (allocated > 0) {
        node.why_not = "mixed";
    } else {
        node.why_not = node.partitions.empty() ? "its partitions are down" : "";
    }
    node.idle = node.why_not.empty();
}

// "Name=value" words; nothing of interest has a blank in it.
std::string_view value_of(std::string_view row, std::string_view name) {
    for (const std::string_view word : words(row)) {
        if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
            return word.substr(name.size() + 1);
        }
    }
    throw OddField{"no " + std::string(name)};
}

Reservation reservation_of(std::string_view row) {
    return {std::string(value_of(row, "ReservationName")), required_time(value_of(row, "StartTime")),
            required_time(value_of(row, "EndTime")), hosts_of(value_of(row, "Nodes"))};
}

template <class ReadRow>
void read_rows(std::string_view answer, OddRows& odd, const ReadRow& read_row) {
    LineReader lines(answer);
    std::string_view row;
    while (lines.read(row)) {
        if (row.empty()) {
            continue;
        }
        try {
            read_row(row);
        } catch (const OddField& field) {
            odd.add(lines.number(), field.reason);
        }
    }
}

}  // namespace

const ViewCommands& view_commands() {
    static const ViewCommands commands = {
        without({"SQUEUE_ACCOUNT", "SQUEUE_ARRAY", "SQUEUE_LICENSES", "SQUEUE_NAMES", "SQUEUE_PARTITION",
                 "SQUEUE_PRIORITY", "SQUEUE_QOS", "SQUEUE_SORT", "SQUEUE_STATES", "SQUEUE_USERS"},
                {"squeue", "--all", "--noheader", "--noconvert", job_format}),
        without({"SINFO_PARTITION", "SINFO_SORT"},
                {"sinfo", "--all", "--Node", "--noheader", "--noconvert", node_format}),
        without({}, {"scontrol", "--all", "--oneliner", "show", "reservation"})};
    return commands;
}

Jobs parse_jobs(std::string_view answer, OddRows& odd) {
    Jobs jobs;
    read_rows(answer, odd, [&](std::string_view row) { read_job(row, jobs); });
    return jobs;
}

std::vector<ClusterNode> parse_nodes(std::string_view answer, OddRows& odd) {
    std::map<std::string, ClusterNode> by_name;  // sinfo has a row for each partition of a node
    read_rows(answer, odd, [&](std::string_view row) { read_node(row, by_name); });
    std::vector<ClusterNode> nodes;
    for (auto& [name, node] : by_name) {
        std::ranges::sort(node.partitions);
        nodes.push_back(std::move(node));
    }
    return nodes;
}

std::vector<Reservation> parse_reservations(std::string_view answer, OddRows& odd) {
    std::vector<Reservation> reservations;
    read_rows(answer, odd, [&](std::string_view row) {
        if (row != "No reservations in the system") {
            reservations.push_back(reservation_of(row));
        }
    });
    return reservations;
}

}  // namespace mastic::schedule
