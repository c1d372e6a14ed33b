#include "support/expect_error.hpp"

#include <stdexcept>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace mastic::test {
namespace {

void throw_io() {
    throw Error(ExitCode::io, "disk full", "free some");
}

TEST(ExpectError, AcceptsCodeAndPartOfMessageOrHint) {
    expect_error(ExitCode::io, "disk", throw_io);
    expect_error(ExitCode::io, "full\n  hint: free", throw_io);
}

TEST(ExpectError, FailsOtherwise) {
    EXPECT_NONFATAL_FAILURE(expect_error(ExitCode::io, "", [] {}), "nothing was thrown");
    EXPECT_NONFATAL_FAILURE(expect_error(ExitCode::data, "disk", throw_io), "it is Error(io): disk full");
    EXPECT_NONFATAL_FAILURE(expect_error(ExitCode::io, "tape", throw_io),
                            "expected an Error(io) with \"tape\"");
    EXPECT_NONFATAL_FAILURE(expect_error(ExitCode::io, "", [] { throw std::runtime_error("other"); }),
                            "another exception was thrown: other");
}

}  // namespace
}  // namespace mastic::test
