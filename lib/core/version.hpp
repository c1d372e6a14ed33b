// The version of mastic, as CMake's project() states it.
#pragma once

namespace mastic {

const char* version();  // for example "0.1.0"

}  // namespace mastic
