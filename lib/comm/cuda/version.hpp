// What --version says of CUDA.
#pragma once

#include <string>

namespace mastic::comm {

// "13.0, no driver here", "13.0, driver for 12.8", or "not built in". Touches no GPU.
std::string cuda_version();

}  // namespace mastic::comm
