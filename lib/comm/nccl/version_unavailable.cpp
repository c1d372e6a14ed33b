#include <mastic/comm/nccl/version.hpp>

namespace mastic::comm {

std::string nccl_version() {
    return "not built in";
}

}  // namespace mastic::comm
