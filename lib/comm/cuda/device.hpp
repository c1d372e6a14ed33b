// GPUs as devices of the engine. What is called on one becomes the current device of the calling thread.
#pragma once

#include <memory>

#include <mastic/comm/device/device.hpp>

namespace mastic::comm {

// That this process may use; 0 without a GPU, without a driver, and in a mastic that was built without CUDA.
int cuda_devices();

// `ordinal` counts from 0 among those. Throws Error(environment) that says what is missing.
std::shared_ptr<Device> open_cuda_device(int ordinal);

}  // namespace mastic::comm
