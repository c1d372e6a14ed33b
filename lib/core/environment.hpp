// Environment variables behind a function, so that tests and pure code can bring their own.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace mastic {

// The value of a variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variables of this process, read at each call.
Environment process_environment();

}  // namespace mastic
