// Which devices the job may use on this node. Never guessed: a job of Slurm without a granted GPU has none.
#pragma once

#include <string>
#include <vector>

#include <mastic/colocation/device.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::colocation {

struct Grant {
    std::vector<Device> devices;
    std::string source;              // "CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS", "all GPUs of this node"
    std::vector<std::string> notes;  // what the user should know: shards, shares, replaced indices
};

// `present`: what Nvml::devices gave. CUDA_VISIBLE_DEVICES (which Slurm sets for gres/gpu, shard and mps) holds indices, UUIDs
// or their beginnings, and MIG ids. An index of a GPU that is cut into MIG instances means all of these. Throws
// Error(environment): a granted device is not there, is named twice, or none was granted.
Grant granted_devices(const Environment& environment, const std::vector<Device>& present);

}  // namespace mastic::colocation
