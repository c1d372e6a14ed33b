// The name of this host, as the kernel has it.
#pragma once

#include <string>

namespace mastic {

std::string host_name();

}  // namespace mastic
