#include <mastic/core/own_program.hpp>

namespace mastic {

std::filesystem::path own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace mastic
