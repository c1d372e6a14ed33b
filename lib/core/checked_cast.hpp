// Narrowing that is checked: each size_t that becomes an MPI count goes through here.
#pragma once

#include <string>
#include <utility>

#include <mastic/core/error.hpp>

namespace mastic {

// Throws Error(usage) naming `what` if `value` does not fit into To.
template <class To, class From>
To checked_cast(From value, const char* what) {
    if (!std::in_range<To>(value)) {
        throw Error(ExitCode::usage, std::string(what) + " is too large: " + std::to_string(value));
    }
    return static_cast<To>(value);
}

}  // namespace mastic
