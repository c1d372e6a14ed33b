// What this program was built with and runs with.
#pragma once

#include <map>
#include <string>

namespace mastic::engine {

// "MPI" -> "MPICH 4.0.2", "torch" -> "1.13.1", ...; where the library that runs differs from the headers, both.
std::map<std::string, std::string> library_versions();

std::string version_text(const std::string& program);
std::string version_json(const std::string& program);

}  // namespace mastic::engine
