#include <mastic/comm/nccl/library.hpp>

#include <mastic/core/error.hpp>

namespace mastic::comm {

bool has_nccl() {
    return false;
}

std::shared_ptr<NcclLibrary> open_nccl(int) {
    throw Error(ExitCode::environment, "this mastic was built without NCCL",
                "configure where nvcc and nccl.h are (NCCL_HOME), with -DMASTIC_CUDA=ON; or choose the "
                "transport tcp or mpi");
}

}  // namespace mastic::comm
