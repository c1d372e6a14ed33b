#include <mastic/config/problems.hpp>

#include <algorithm>

#include <mastic/config/text.hpp>

namespace mastic::config {

void Problems::add(const std::string& where, const std::string& message, const std::string& hint) {
    add(Error(ExitCode::usage, where + ": " + message, hint));
}

void Problems::add(const Error& error) {
    messages_.emplace_back(error.what());
    if (!error.hint().empty() && std::ranges::find(hints_, error.hint()) == hints_.end()) {
        hints_.push_back(error.hint());
    }
}

void Problems::throw_if_any(const std::string& default_hint) const {
    if (!messages_.empty()) {
        // Further hints stand below the first one in Error::full_message().
        const std::string hint = hints_.empty() ? default_hint : join(hints_, "\n        ");
        throw Error(ExitCode::usage, join(messages_, "\n"), hint);
    }
}

}  // namespace mastic::config
