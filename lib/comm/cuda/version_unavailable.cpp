#include <mastic/comm/cuda/version.hpp>

namespace mastic::comm {

std::string cuda_version() {
    return "not built in";
}

}  // namespace mastic::comm
