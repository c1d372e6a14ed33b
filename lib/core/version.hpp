// The version of mastic, as CMake's project() states it, and what --version prints.
#pragma once

#include <map>
#include <string>

namespace mastic {

const char* version();  // for example "0.1.0"

// "MPI" -> "MPICH 4.0.2", "torch" -> "1.13.1", ...
using LibraryVersions = std::map<std::string, std::string>;

// Both, where the library that runs differs from the headers.
std::string built_and_run(const std::string& built, const std::string& run);

std::string version_text(const std::string& program, const LibraryVersions& libraries);
std::string version_json(const std::string& program, const LibraryVersions& libraries);

}  // namespace mastic
