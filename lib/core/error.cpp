#include <mastic/core/error.hpp>

#include <utility>

namespace mastic {

const char* to_string(ExitCode code) {
    switch (code) {
        case ExitCode::done:
            return "done";
        case ExitCode::usage:
            return "usage";
        case ExitCode::data:
            return "data";
        case ExitCode::environment:
            return "environment";
        case ExitCode::io:
            return "io";
        case ExitCode::checkpoint:
            return "checkpoint";
        case ExitCode::collective:
            return "collective";
        case ExitCode::non_finite:
            return "non_finite";
        case ExitCode::memory:
            return "memory";
        case ExitCode::requeue:
            return "requeue";
    }
    return "unknown";
}

Error::Error(ExitCode code, const std::string& message, std::string hint)
    : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}

std::string Error::full_message() const {
    return hint_.empty() ? std::string(what()) : what() + ("\n  hint: " + hint_);
}

}  // namespace mastic
