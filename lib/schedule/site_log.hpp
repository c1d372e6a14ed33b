// Any of the logs that can be replayed, as a trace of idle nodes.
#pragma once

#include <filesystem>
#include <string>

#include <mastic/schedule/job_log.hpp>

namespace mastic::schedule {

struct SiteLogOptions {
    std::string format = "auto";  // auto, idle-csv, swf, sacct
    int nodes = 0;                // of the machine; 0: as the log says; of an idle-csv: only its first nodes
    int cores_per_node = 0;       // swf; 0: as the log's header says
    bool strict = false;          // an odd row is an error
};

struct SiteLog {
    std::string format;
    IdleTrace trace;
    OddRows odd;
    std::string note;  // what had to be assumed; may be empty
};

// Gzip is undone. Throws Error(data) for a log that cannot be read, Error(usage) if its format is not recognised.
SiteLog read_site_log(const std::filesystem::path& path, const SiteLogOptions& options);

// The format of a text by its first line of data; "" if it is none of them.
std::string recognised_format(std::string_view text);

}  // namespace mastic::schedule
