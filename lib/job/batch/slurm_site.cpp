#include <mastic/job/batch/slurm_site.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>

#include <mastic/config/text.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/named.hpp>
#include <mastic/core/suggest.hpp>
#include <mastic/job/batch/srun_mpi.hpp>
#include <mastic/job/gres.hpp>

namespace mastic::job {
namespace {

constexpr Seconds patience{20};  // for each answer
constexpr std::int64_t usual_nodes = 4;

// Leading digits: sinfo writes "4+" where nodes differ.
std::int64_t leading_number(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, '|');) {
        fields.push_back(field);
    }
    return fields;
}

std::optional<SlurmPartition> parse_partition(const std::string& line) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != 6 || fields[0].empty()) {
        return std::nullopt;
    }
    SlurmPartition partition;
    partition.is_default = fields[0].ends_with('*');
    partition.name = fields[0].substr(0, fields[0].size() - (partition.is_default ? 1 : 0));
    partition.up = fields[1] == "up";
    try {
        partition.time_limit = parse_slurm_time(fields[2]);
    } catch (const Error&) {
        return std::nullopt;
    }
    partition.nodes = leading_number(fields[3]);
    partition.cpus_per_node = leading_number(fields[4]);
    partition.gpus_per_node = gpus_in_gres(fields[5]);
    return partition;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// Null if the cluster names no default.
const SlurmPartition* chosen_partition(const std::string& wanted, const SlurmSite& site) {
    if (!wanted.empty()) {
        return &require_partition(wanted, site);
    }
    const auto found = std::ranges::find(site.partitions, true, &SlurmPartition::is_default);
    return found != site.partitions.end() ? &*found : nullptr;
}

void require_at_most(std::int64_t wanted, std::int64_t there, const SlurmPartition& partition,
                     const std::string& what, const std::string& option) {
    if (wanted > there) {
        throw Error(ExitCode::usage,
                    option + " " + std::to_string(wanted) + ": partition " + partition.name + " has " +
                        std::to_string(there) + " " + what,
                    "ask for less, or choose another --slurm.partition");
    }
}

std::string list_of_partitions(const SlurmSite& site) {
    std::vector<std::string> texts;
    for (const SlurmPartition& partition : site.partitions) {
        texts.push_back(partition.name + " (" + std::to_string(partition.nodes) + " nodes" +
                        (partition.up ? "" : ", down") + ")");
    }
    return config::join(texts);
}

void fit_to_partition(SlurmOptions& options, const SlurmPartition& partition,
                      std::vector<std::string>& notes) {
    options.partition = partition.name;
    if (options.nodes == 0) {
        options.nodes = std::clamp<std::int64_t>(usual_nodes, 1, std::max<std::int64_t>(partition.nodes, 1));
    }
    if (options.gpus_per_node == all_gpus) {
        options.gpus_per_node = std::max<std::int64_t>(partition.gpus_per_node, 1);
    }
    require_at_most(options.nodes, partition.nodes, partition, "nodes", "slurm.nodes");
    require_at_most(options.cpus_per_rank * options.ranks_per_node, partition.cpus_per_node, partition,
                    "cores on a node", "slurm.cpus_per_rank x slurm.ranks_per_node");
    require_at_most(options.gpus_per_node, partition.gpus_per_node, partition, "GPUs on a node",
                    "slurm.gpus_per_node");
    if (partition.time_limit && options.time > *partition.time_limit) {
        options.time = *partition.time_limit;
        notes.push_back("the time limit is the partition's");
    }
    if (partition.gpus_per_node > options.gpus_per_node) {
        notes.push_back("the nodes have " + std::to_string(partition.gpus_per_node) +
                        " GPUs each, of which " + std::to_string(options.gpus_per_node) +
                        " are asked for (slurm.gpus_per_node)");
    }
    if (!partition.up) {
        notes.push_back("partition " + partition.name + " is down now");
    }
}

}  // namespace

std::vector<SlurmPartition> parse_partitions(std::string_view answer) {
    std::vector<SlurmPartition> partitions;
    std::istringstream lines{std::string(answer)};
    for (std::string line; std::getline(lines, line);) {
        const std::optional<SlurmPartition> part = parse_partition(line);
        if (!part) {
            continue;
        }
        const auto known = std::ranges::find(partitions, part->name, &SlurmPartition::name);
        if (known == partitions.end()) {
            partitions.push_back(*part);
        } else {
            known->nodes += part->nodes;
            known->cpus_per_node = std::min(known->cpus_per_node, part->cpus_per_node);
            known->gpus_per_node = std::min(known->gpus_per_node, part->gpus_per_node);
        }
    }
    return partitions;
}

const SlurmPartition& require_partition(const std::string& name, const SlurmSite& site) {
    const auto found = std::ranges::find(site.partitions, name, &SlurmPartition::name);
    if (found == site.partitions.end()) {
        std::vector<std::string> names;
        std::ranges::transform(site.partitions, std::back_inserter(names), &SlurmPartition::name);
        throw_unknown_name("partition", name, names);
    }
    return *found;
}

SlurmSite ask_slurm_partitions(const CommandRunner& run) {
    SlurmSite site;
    const CommandResult nodes = run({"sinfo", "--noheader", "--format=%P|%a|%l|%D|%c|%G"}, patience);
    if (nodes.exit_code != 0) {
        site.problem = nodes.exit_code == 127   ? "there is no sinfo here"
                       : nodes.exit_code == 124 ? "sinfo did not answer"
                                                : first_line(nodes.error);
        return site;
    }
    site.partitions = parse_partitions(nodes.output);
    return site;
}

SlurmSite survey_slurm_site(const std::string& user, const CommandRunner& run) {
    SlurmSite site = ask_slurm_partitions(run);
    if (!site.problem.empty()) {
        return site;
    }
    site.mpi_types = ask_srun_mpi_types(run);
    const CommandResult account = run(
        {"sacctmgr", "--noheader", "--parsable2", "show", "user", user, "format=DefaultAccount"}, patience);
    if (account.exit_code == 0 && !user.empty()) {
        site.account = first_line(account.output);
    }
    return site;
}

FittedOptions fit_to_site(SlurmOptions options, const SlurmSite& site) {
    FittedOptions fitted;
    if (!site.problem.empty()) {
        fitted.notes.push_back("Slurm could not be asked (" + site.problem +
                               "): these are defaults, look at them");
    } else {
        if (const SlurmPartition* partition = chosen_partition(options.partition, site)) {
            fit_to_partition(options, *partition, fitted.notes);
        } else {
            fitted.notes.push_back("the cluster names no default partition");
        }
        fitted.notes.push_back("partitions: " + list_of_partitions(site));
        if (options.account.empty()) {
            options.account = site.account;
        }
    }
    if (options.nodes == 0) {
        options.nodes = usual_nodes;
    }
    if (options.gpus_per_node == all_gpus) {
        options.gpus_per_node = 1;
    }
    fitted.options = std::move(options);
    return fitted;
}

}  // namespace mastic::job
