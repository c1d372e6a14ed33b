// The executable that this process runs.
#pragma once

#include <filesystem>

namespace mastic {

// Its real path, whatever links and search paths it was started by. Throws std::filesystem::filesystem_error without /proc.
std::filesystem::path own_program();

}  // namespace mastic
