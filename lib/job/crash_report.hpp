// A backtrace of a process that crashes, in a file: a batch job's standard error is the worst place to look for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <mastic/core/command.hpp>

namespace mastic::job {

// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write `file` (made only then) and go on to the handlers that
// stood before. Call it again to name another file.
void report_crashes_to(const std::filesystem::path& file);

struct CrashReport {
    int rank = 0;
    std::string signal;               // "SIGSEGV"
    std::vector<std::string> frames;  // innermost first: "program(function+0x12)[0x...]"
};

// Of all files rank-N.crash in a directory, by rank. With `run`, addresses of a program without names in it are given the
// names that addr2line knows, where there is one.
std::vector<CrashReport> read_crash_reports(const std::filesystem::path& directory, const CommandRunner& run);

}  // namespace mastic::job
