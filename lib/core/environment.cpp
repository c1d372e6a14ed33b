#include <mastic/core/environment.hpp>

#include <cstdlib>

namespace mastic {

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
    };
}

}  // namespace mastic
