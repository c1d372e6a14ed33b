#include <mastic/core/version.hpp>

namespace mastic {

const char* version() {
    return MASTIC_VERSION;
}

}  // namespace mastic
