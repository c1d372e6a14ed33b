#include "support/expect_error.hpp"

#include <exception>
#include <string>

#include <gtest/gtest.h>

namespace mastic::test {

void expect_error(ExitCode code, std::string_view part, const std::function<void()>& action,
                  std::source_location where) {
    const auto fail = [&](const std::string& what) {
        ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
            << "expected an Error(" << to_string(code) << ") with \"" << part << "\", but " << what;
    };
    try {
        action();
        fail("nothing was thrown");
    } catch (const Error& error) {
        if (error.code() != code || error.full_message().find(part) == std::string::npos) {
            fail(std::string("it is Error(") + to_string(error.code()) + "): " + error.full_message());
        }
    } catch (const std::exception& other) {
        fail(std::string("another exception was thrown: ") + other.what());
    }
}

}  // namespace mastic::test
