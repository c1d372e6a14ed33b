// The assertion for what mastic throws.
#pragma once

#include <functional>
#include <source_location>
#include <string_view>

#include <mastic/core/error.hpp>

namespace mastic::test {

// Fails the test, at the caller's line, unless `action` throws an Error with this code whose full message
// (message and hint) contains `part`.
void expect_error(ExitCode code, std::string_view part, const std::function<void()>& action,
                  std::source_location where = std::source_location::current());

}  // namespace mastic::test
