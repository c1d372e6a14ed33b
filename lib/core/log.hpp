// Messages to people. Rank 0 speaks on the terminal; every rank writes to its own log file, once it has one.
// The .cpp that has something to say includes <spdlog/spdlog.h> and calls spdlog::info(...); headers never
// do.
#pragma once

#include <filesystem>
#include <string>

namespace mastic {

struct LogOptions {
    int rank = 0;
    int world_size = 1;
    std::filesystem::path file;  // empty: no file; an existing one is appended to
    std::string level = "info";  // trace, debug, info, warn, error, off
};

// Sets the default logger: to standard error for rank 0 (others: warnings and errors, prefixed "[rank N]"),
// and to the file for all. Colour only on a terminal; the file is flushed after each message from info
// upwards. May be called again when the file or the rank becomes known. Throws Error(usage) for an unknown
// level, Error(io) for the file.
void setup_log(const LogOptions& options);

// True if standard error is a terminal: progress bars only then.
bool on_terminal();

}  // namespace mastic
