#include <mastic/comm/cuda/check.hpp>
#include <mastic/comm/cuda/device.hpp>

namespace mastic::comm {

int cuda_devices() {
    return 0;
}

std::shared_ptr<Device> open_cuda_device(int) {
    cuda::throw_unavailable();
}

}  // namespace mastic::comm
