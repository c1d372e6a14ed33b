#include <mastic/comm/cuda/check.hpp>

#include <string>

#include <cuda_runtime_api.h>

#include <mastic/core/error.hpp>

namespace mastic::comm::cuda {
namespace {

const char* hint_for(cudaError_t code) {
    switch (code) {
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
            return "ask for a GPU (sbatch --gres=gpu:1) and look at `nvidia-smi` there";
        case cudaErrorMemoryAllocation:
            return "use a smaller batch, or fewer ranks on this GPU";
        case cudaErrorMpsConnectionFailed:
        case cudaErrorMpsServerNotReady:
        case cudaErrorMpsRpcFailure:
            return "the MPS daemon of this job does not answer: look at its log, or run without MPS";
        case cudaErrorDevicesUnavailable:
            return "another process holds the GPU in exclusive mode: use MPS, or another GPU";
        default:
            return "look at `nvidia-smi` and the kernel log of this node";
    }
}

}  // namespace

void check(int code, const char* what) {
    const auto error = static_cast<cudaError_t>(code);
    if (error == cudaSuccess) {
        return;
    }
    throw Error(error == cudaErrorMemoryAllocation ? ExitCode::memory : ExitCode::environment,
                std::string(what) + ": " + cudaGetErrorString(error), hint_for(error));
}

}  // namespace mastic::comm::cuda
