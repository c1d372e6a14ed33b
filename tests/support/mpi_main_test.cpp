// What the main function of MPI tests promises, seen from outside.
#include <string>

#include <gtest/gtest.h>

#include <mastic/core/command.hpp>

namespace mastic {
namespace {

CommandResult run_probe(const std::string& action) {
    return run_command({"env", "MASTIC_PROBE=" + action, "MASTIC_TEST_WATCHDOG=4", MPIEXEC, "-n", "3", PROBE},
                       Seconds(60));
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(MpiMain, PassesAndLetsOnlyRankZeroSpeak) {
    const auto result = run_probe("pass");
    EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
    const auto first = result.output.find("[  PASSED  ] 1 test.");
    EXPECT_NE(first, std::string::npos) << result.output;
    EXPECT_EQ(result.output.find("[  PASSED  ] 1 test.", first + 1), std::string::npos) << result.output;
}

TEST(MpiMain, FailsIfOneRankFailsAndNamesIt) {
    const auto result = run_probe("fail");
    EXPECT_EQ(result.exit_code, 1) << result.output << result.error;
    EXPECT_TRUE(contains(result.error, "[rank 1] Probe.DoesWhatItIsTold: ")) << result.error;
    EXPECT_TRUE(contains(result.error, "as it was told")) << result.error;
}

TEST(MpiMain, FailsIfOneRankThrows) {
    const auto result = run_probe("throw");
    EXPECT_EQ(result.exit_code, 1) << result.output << result.error;
    EXPECT_TRUE(contains(result.error, "as it was told")) << result.error;
}

TEST(MpiMain, EndsAHangAndNamesRankAndTest) {
    const auto result = run_probe("hang");
    // 124, or what mpiexec makes of the ranks that it kills.
    EXPECT_NE(result.exit_code, 0) << result.output << result.error;
    EXPECT_TRUE(contains(result.error, "[rank 1] hang: still in Probe.DoesWhatItIsTold after 4 s"))
        << result.error;
}

}  // namespace
}  // namespace mastic
