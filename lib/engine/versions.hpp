// What this program was built with and runs with.
#pragma once

#include <mastic/core/version.hpp>

namespace mastic::engine {

LibraryVersions library_versions();

}  // namespace mastic::engine
