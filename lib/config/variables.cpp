#include <mastic/config/variables.hpp>

#include <unistd.h>

#include <string_view>

namespace mastic::config {

Variables mastic_variables() {
    Variables variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (text.starts_with("MASTIC_") && equals != std::string_view::npos) {
            variables.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return variables;
}

}  // namespace mastic::config
