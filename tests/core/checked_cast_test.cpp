#include <mastic/core/checked_cast.hpp>

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace mastic {
namespace {

TEST(CheckedCast, KeepsValuesThatFit) {
    EXPECT_EQ(checked_cast<int>(std::size_t{2147483647}, "count"), std::numeric_limits<int>::max());
    EXPECT_EQ(checked_cast<std::uint8_t>(255, "count"), 255);
    EXPECT_EQ(checked_cast<std::int64_t>(-1, "count"), -1);
}

TEST(CheckedCast, NamesWhatDoesNotFit) {
    test::expect_error(ExitCode::usage, "element count is too large: 2147483648",
                       [] { checked_cast<int>(std::size_t{2147483648}, "element count"); });
    test::expect_error(ExitCode::usage, "-1", [] { checked_cast<unsigned>(-1, "count"); });
}

}  // namespace
}  // namespace mastic
