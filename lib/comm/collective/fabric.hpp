// Does this node have a network that is better used by the MPI library than by TCP?
#pragma once

#include <filesystem>

namespace mastic::comm {

// An InfiniBand, RoCE or Omni-Path port is active. `devices`: for tests.
bool has_fast_fabric(const std::filesystem::path& devices = "/sys/class/infiniband");

}  // namespace mastic::comm
