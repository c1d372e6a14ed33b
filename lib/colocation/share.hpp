// A rank's part of its device, as environment variables of CUDA and of OpenMP. Pure.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <mastic/colocation/placement.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::colocation {

// "auto", "none" or a number of percent from 1 to 100.
struct ThreadPercentage {
    bool automatic = true;
    std::optional<int> fixed;
};
ThreadPercentage parse_thread_percentage(std::string_view text);  // throws Error(usage)

// "auto", "none" or a size.
struct MemoryLimit {
    bool automatic = false;
    std::optional<Bytes> fixed;
};
MemoryLimit parse_memory_limit(std::string_view text);  // throws Error(usage)

// With K ranks a quarter more than 1/K, so that what one leaves idle another can use: min(100, ceil(125 / K)), or so much
// of `granted`, which Slurm's gres/mps gives the job. Empty: no limit.
std::optional<int> thread_percentage(const ThreadPercentage& wish, int sharers, std::optional<int> granted);

// auto: nine tenths of the device over its ranks. Empty: no limit.
std::optional<Bytes> memory_limit(const MemoryLimit& wish, int sharers, Bytes device);

// Where the daemon of a rank listens; the site's own may have a log that nobody told us.
struct MpsPlace {
    std::filesystem::path pipe;
    std::filesystem::path log;
};

struct Share {
    ThreadPercentage percentage;
    MemoryLimit memory;
    std::optional<MpsPlace> mps;  // empty: without MPS
};

// Variables to set, or to take away (nothing). MASTIC_MPS_ and CUDA_DEVICE_ORDER are no matter of it. OMP_NUM_THREADS stays if the user
// has set it.
using EnvironmentChange = std::map<std::string, std::optional<std::string>>;
EnvironmentChange environment_of(const RankPlace& place, const Device& device, const Share& share,
                                 const Environment& present);

}  // namespace mastic::colocation
