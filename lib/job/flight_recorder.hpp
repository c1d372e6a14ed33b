// What a rank was doing last, for those who ask after its end. A small file of each rank, rewritten in place whenever the
// rank enters another phase: what the kernel has taken stays, whatever ends the process (but not the machine).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/descriptor.hpp>

namespace mastic::job {

struct LastMoment {
    int rank = 0;
    std::string host;
    long pid = 0;
    std::int64_t step = 0;  // under way, counted from 1; 0: before the first
    std::string phase;      // "backward", "bucket 3"
    std::chrono::system_clock::time_point since{};  // when it entered the phase; to the millisecond
    std::string end;  // how the rank ended by itself: "exit code 75"; empty: it did not
};

class FlightRecorder {
  public:
    FlightRecorder() = default;  // records nothing
    // Makes the file. Throws Error(io). Later writes that fail (a full disk) are left out.
    FlightRecorder(const std::filesystem::path& file, int rank, std::string host);

    void enter(std::string_view phase) { enter(phase, moment_.step); }
    void enter(std::string_view phase, std::int64_t step);
    void end(int exit_code);

  private:
    void write();

    Descriptor file_;
    std::string head_;  // of each record: what never changes
    LastMoment moment_;
};

// Nothing if the file is damaged.
std::optional<LastMoment> read_last_moment(const std::filesystem::path& file);

// Of all files that end in ".last" in a directory, by rank; empty if there is no such directory.
std::vector<LastMoment> read_last_moments(const std::filesystem::path& directory);

}  // namespace mastic::job
