#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/command.hpp>

#include "support/temp_dir.hpp"

namespace mastic {
namespace {

using testing::HasSubstr;

std::string run(const std::vector<std::string>& command) {
    const CommandResult result = run_command(command, Seconds(250));
    EXPECT_EQ(result.exit_code, 0) << command.front() << ": " << result.output << result.error;
    return result.output;
}

TEST(Install, AnotherProjectFindsThePackageAndReduces) {
    const test::TempDir dir;
    const std::string prefix = dir.path() / "prefix";
    const std::string build = dir.path() / "build";
    run({CMAKE, "--install", MASTIC_BUILD, "--component", "comm", "--prefix", prefix});
    run({CMAKE, "-S", MASTIC_EXAMPLE, "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_BUILD_TYPE=Release"});
    run({CMAKE, "--build", build});
    EXPECT_THAT(run({MPIEXEC, "-n", "2", build + "/average"}), HasSubstr("average 0.50"));
}

}  // namespace
}  // namespace mastic
