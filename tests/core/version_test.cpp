#include <mastic/core/version.hpp>

#include <gtest/gtest.h>

namespace mastic {
namespace {

TEST(Version, IsTheProjects) {
    EXPECT_STREQ(version(), EXPECTED_VERSION);
}

}  // namespace
}  // namespace mastic
