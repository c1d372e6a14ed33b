// What the cluster offers that this machine belongs to, as sinfo, srun and sacctmgr say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/command.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/job/batch/slurm_options.hpp>

namespace mastic::job {

struct SlurmPartition {
    std::string name;
    bool is_default = false;
    bool up = true;
    std::optional<Seconds> time_limit;  // none: no limit
    std::int64_t nodes = 0;
    std::int64_t cpus_per_node = 0;  // of its smallest nodes, as the next
    std::int64_t gpus_per_node = 0;
};

struct SlurmSite {
    std::string problem;  // why Slurm could not be asked; empty: it could
    std::vector<SlurmPartition> partitions;
    std::vector<std::string> mpi_types;  // of srun --mpi; empty: not known
    std::string account;                 // the user's default; empty: none, or not known
};

// The answer of `sinfo --noheader --format=%P|%a|%l|%D|%c|%G`: a line for each kind of node of each partition. Lines of
// any other form are left out.
std::vector<SlurmPartition> parse_partitions(std::string_view answer);

// Only `problem` and `partitions`. Never throws for a missing or silent Slurm.
SlurmSite ask_slurm_partitions(const CommandRunner& run);
// The same for all of it; takes at most a minute.
SlurmSite survey_slurm_site(const std::string& user, const CommandRunner& run);

// Throws Error(usage), "did you mean", if there is no such partition.
const SlurmPartition& require_partition(const std::string& name, const SlurmSite& site);

// The options with what the cluster decides filled in, and what is to be told about it.
struct FittedOptions {
    SlurmOptions options;
    std::vector<std::string> notes;
};
// Throws Error(usage) for a partition that does not exist, and for more nodes, cores or GPUs than it has.
FittedOptions fit_to_site(SlurmOptions options, const SlurmSite& site);

}  // namespace mastic::job
