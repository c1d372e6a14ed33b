// The environment variables that may be options.
#pragma once

#include <map>
#include <string>

namespace mastic::config {

// Name -> value. All of them are needed, not only those asked for: a misspelt one must be found.
using Variables = std::map<std::string, std::string>;

// The variables of this process whose names start with MASTIC_.
Variables mastic_variables();

}  // namespace mastic::config
