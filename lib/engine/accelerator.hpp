// Where a rank computes: on its cores, or on a GPU.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <torch/types.h>

#include <mastic/comm/device/device.hpp>
#include <mastic/comm/nccl/library.hpp>

namespace mastic::engine {

struct Accelerator {
    torch::Device torch_device = torch::kCPU;
    std::shared_ptr<comm::Device> comm_device{};  // the same device, for the collectives; null: host memory
    std::shared_ptr<comm::NcclLibrary> nccl{};    // null: collectives pass through host memory
    std::string name{};                           // "NVIDIA H200"; "" for the cores

    bool is_gpu() const { return !torch_device.is_cpu(); }
};

// The GPUs that this process may see, as the collectives know them; and NCCL, null where it was not built in. Tests put others in
// their place.
struct GpuSource {
    std::function<int()> count;
    std::function<std::shared_ptr<comm::Device>(int ordinal)> open;
    std::function<std::shared_ptr<comm::NcclLibrary>(int ordinal)> open_nccl;
};
GpuSource cuda_gpus();

// `wanted`: train.device (cpu, cuda, or auto: a GPU if this torch, this mastic and this process have one). Of the GPUs that the
// process may see, ranks of a node take one after the other, so that one which sees a single GPU takes that; mastic-mps and
// Slurm decide what it sees. Throws Error(environment) where cuda is wanted and something is missing, which is named.
Accelerator open_accelerator(const std::string& wanted, int local_rank, const GpuSource& gpus);

}  // namespace mastic::engine
