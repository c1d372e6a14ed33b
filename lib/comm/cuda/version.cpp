#include <mastic/comm/cuda/version.hpp>

#include <cuda_runtime_api.h>

#include <mastic/core/version.hpp>

namespace mastic::comm {
namespace {

// CUDA writes 12.8 as 12080.
std::string dotted(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string cuda_version() {
    int runtime = CUDART_VERSION;
    cudaRuntimeGetVersion(&runtime);
    int driver = 0;  // stays 0 without a driver
    cudaDriverGetVersion(&driver);
    return built_and_run(dotted(CUDART_VERSION), dotted(runtime)) +
           (driver == 0 ? ", no driver here" : ", driver for " + dotted(driver));
}

}  // namespace mastic::comm
