#include <mastic/core/environment.hpp>

#include <cstdlib>

#include <gtest/gtest.h>

namespace mastic {
namespace {

TEST(ProcessEnvironment, TellsSetEmptyAndUnsetApart) {
    const auto environment = process_environment();
    unsetenv("MASTIC_TEST_VARIABLE");
    EXPECT_EQ(environment("MASTIC_TEST_VARIABLE"), std::nullopt);
    setenv("MASTIC_TEST_VARIABLE", "", 1);
    EXPECT_EQ(environment("MASTIC_TEST_VARIABLE"), "");
    setenv("MASTIC_TEST_VARIABLE", "value", 1);
    EXPECT_EQ(environment("MASTIC_TEST_VARIABLE"), "value");
    unsetenv("MASTIC_TEST_VARIABLE");
}

}  // namespace
}  // namespace mastic
