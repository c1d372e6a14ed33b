// What --version says of NCCL.
#pragma once

#include <string>

namespace mastic::comm {

std::string nccl_version();  // "2.28.9" or "not built in"

}  // namespace mastic::comm
