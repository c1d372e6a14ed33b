#include <mastic/comm/nccl/version.hpp>

#include <nccl.h>

#include <mastic/comm/nccl/version_code.hpp>
#include <mastic/core/version.hpp>

namespace mastic::comm {

std::string nccl_version() {
    int running = 0;
    ncclGetVersion(&running);
    return built_and_run(nccl_version_text(NCCL_VERSION_CODE), nccl_version_text(running));
}

}  // namespace mastic::comm
