#include <mastic/engine/accelerator.hpp>

#include <torch/torch.h>

#include <algorithm>

#include <mastic/comm/cuda/device.hpp>
#include <mastic/core/error.hpp>

namespace mastic::engine {
namespace {

// "" if a GPU can be used, else what is missing.
std::string missing_for_cuda(int gpus) {
    if (torch::cuda::device_count() == 0) {
        return gpus > 0
                   ? "the libtorch that this program was built with (" TORCH_VERSION ") has no CUDA"
                   : "no GPU can be used here";
    }
    return gpus == 0 ? "this mastic was built without CUDA" : "";
}

}  // namespace

GpuSource cuda_gpus() {
    return {.count = comm::cuda_devices, .open = comm::open_cuda_device, .open_nccl = comm::has_nccl() ? comm::open_nccl : nullptr};
}

Accelerator open_accelerator(const std::string& wanted, int local_rank, const GpuSource& gpus) {
    if (wanted == "cpu") {
        return {};
    }
    const std::string missing = missing_for_cuda(gpus.count());
    if (!missing.empty()) {
        if (wanted == "auto") {
            return {};
        }
        throw Error(ExitCode::environment, "train.device is cuda, but " + missing,
                    "scripts/gpu-check says what is here and builds with it; --train.device cpu uses the cores");
    }
    const int count = std::min(static_cast<int>(torch::cuda::device_count()), gpus.count());
    const int ordinal = local_rank % count;
    Accelerator accelerator;
    accelerator.torch_device = torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(ordinal));
    accelerator.comm_device = gpus.open(ordinal);
    accelerator.nccl = gpus.open_nccl ? gpus.open_nccl(ordinal) : nullptr;
    accelerator.name = accelerator.comm_device->name();
    return accelerator;
}

}  // namespace mastic::engine
