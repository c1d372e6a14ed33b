// What the ranks of a node share: a GPU, a part of one, or a group of cores.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mastic/core/bytes.hpp>
#include <mastic/job/binding.hpp>

namespace mastic::colocation {

enum class DeviceKind { gpu, mig, cores };

// As the driver numbers them (nvmlComputeMode_t).
enum class ComputeMode { shared = 0, exclusive_thread = 1, prohibited = 2, exclusive_process = 3 };
const char* to_string(ComputeMode mode);

struct Device {
    DeviceKind kind = DeviceKind::gpu;
    std::string id;      // "GPU-..." or "MIG-..." as CUDA_VISIBLE_DEVICES takes it; "cores 0-7"
    std::string model;   // "NVIDIA A100-SXM4-80GB"; of cores: "CPU"
    std::string pci;     // "00000000:3B:00.0"; empty for cores
    std::string parent;  // of a MIG instance: its GPU's id
    Bytes memory;        // 0: not known
    ComputeMode mode = ComputeMode::shared;
    std::optional<int> numa;         // nearest NUMA node; empty: not known
    std::vector<int> users{};        // processes that compute there now
    std::vector<job::Core> cores{};  // of a group of cores
};

// Groups of `size` neighbouring cores of one NUMA node; 0: each NUMA node is a group. The last group of a node may be
// smaller.
std::vector<Device> core_groups(const job::CpuView& cpus, int size);

}  // namespace mastic::colocation
