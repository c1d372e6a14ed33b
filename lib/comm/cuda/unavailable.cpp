#include <mastic/comm/cuda/check.hpp>
#include <mastic/core/error.hpp>

namespace mastic::comm::cuda {

void throw_unavailable() {
    throw Error(ExitCode::environment, "this mastic was built without CUDA",
                "configure where nvcc is, with -DMASTIC_CUDA=ON, or use host memory");
}

}  // namespace mastic::comm::cuda
