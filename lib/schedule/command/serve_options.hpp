// The sections [serve] and [pilot]: how a manager works on a cluster.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <mastic/config/schema.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/schedule/manager/manager.hpp>

namespace mastic::schedule {

struct ServeOptions {
    PollerSettings polling;
    PilotOptions pilot;
    std::string policy = "mastic";
    std::int64_t most = 64;
    std::int64_t burst = 16;
    std::int64_t spare = 0;
    Seconds silence{600};
    std::int64_t most_failures = 3;
    bool give_way = false;
    bool until_done = false;
    std::string program_directory;  // empty: that of mastic-rescale

    bool once = false;

    std::filesystem::path programs() const;
};

// `options` must outlive the schema.
void declare_serve_options(config::Schema& schema, ServeOptions& options);

}  // namespace mastic::schedule
