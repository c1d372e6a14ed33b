// What a user submits: a training of mastic-train that may have any number of nodes between two limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/config/schema.hpp>

namespace mastic::schedule {

inline constexpr int most_nodes_of_a_training = 4'096;

struct TrainingOrder {
    std::string name;           // empty: the configuration's file name
    std::string config;         // of mastic-train
    std::string run_directory;  // empty: what the configuration says
    int least = 1;              // nodes; with fewer it does not run
    int most = 64;
    double weight = 1;                   // of its progress, against that of the others
    std::int64_t total_samples = 0;      // 0: until the configuration's own end
    std::vector<std::string> arguments;  // further ones of mastic-train

    std::string directory;   // in which mastic-train runs: relative paths count from there
    std::string sweep;       // the id of the sweep that it is a trial of, or ""
    int keep_best = 0;       // of the sweep's trials, so many run to the end; 0: all
    double submitted_s = 0;  // seconds since 1970
};

// Section [training] of an order file, and the same flags. `order` must outlive the schema.
void declare_training_order(config::Schema& schema, TrainingOrder& order);

// An order file, or a configuration of mastic-train itself (it has a section [model], [data] or [train]), with the flags and
// variables that are set in `given` on top. Throws Error(usage) with FILE:LINE:COLUMN for each mistake.
TrainingOrder read_training_order(const std::filesystem::path& file, const config::Schema& given);

// As a manager can use it: paths absolute (relative ones count from `directory`), the name and the run directory found in
// the configuration, both limits in order. Throws Error(usage), with FILE:LINE:COLUMN where that is no TOML, or Error(io).
TrainingOrder completed(TrainingOrder order, const std::filesystem::path& directory);

std::string to_json(const TrainingOrder& order);
// Throws Error(data) naming `where`.
TrainingOrder parse_training_order(std::string_view json, const std::string& where);

}  // namespace mastic::schedule
