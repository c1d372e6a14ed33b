// How runs end, as the launcher sees it: the run's own code, no hang.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/command.hpp>

namespace mastic::comm {
namespace {

using testing::HasSubstr;
using testing::Not;

CommandResult run(int ranks, const std::string& way, int code) {
    return run_command({MPIEXEC, "-n", std::to_string(ranks), ENDING_RANKS, way, std::to_string(code)},
                       Seconds(60));
}

TEST(Ending, InGoodOrderGivesTheCodeOfTheRun) {
    for (const int code : {0, 75}) {
        for (const int ranks : {1, 3}) {
            const CommandResult result = run(ranks, "good", code);
            EXPECT_EQ(result.exit_code, code) << result.error;
            EXPECT_THAT(result.output, HasSubstr("rank " + std::to_string(ranks - 1) + " ends"));
            EXPECT_THAT(result.error, Not(HasSubstr("without the other ranks")));
        }
    }
}

TEST(Ending, WaitsForRanksThatAreLate) {
    const CommandResult result = run(3, "late", 75);
    EXPECT_EQ(result.exit_code, 75);
    EXPECT_THAT(result.output, HasSubstr("rank 2 ends"));
}

TEST(Ending, AHangInFinalizeIsLeftWithTheCodeOfTheRun) {
    for (const char* way : {"hang-everywhere", "hang-on-one"}) {
        for (const int code : {0, 75}) {
            EXPECT_EQ(run(3, way, code).exit_code, code) << way;
        }
    }
}

TEST(Ending, AStallNamesOperationAndRankAndEndsWithCode7) {
    const std::pair<const char*, const char*> ways[] = {
        {"stall-pipelined", "missing in 'bucket 7': rank 1 (not started)"},
        {"stopped", "missing in 'bucket 7': rank 1 (no answer: busy, stopped or lost)"},
        {"stall-blocking", "ranks unknown, since 'bucket 7' blocks the progress thread (native-blocking)"}};
    for (const auto& [way, missing] : ways) {
        const CommandResult result = run(3, way, 0);
        EXPECT_EQ(result.exit_code, 7) << way << result.error;
        EXPECT_THAT(result.output + result.error, HasSubstr("waiting for 'bucket 7' since")) << way;
        EXPECT_THAT(result.error, HasSubstr("[rank 0] 'bucket 7' did not complete within")) << way;
        EXPECT_THAT(result.error, HasSubstr(missing)) << way;
    }
}

// A shell hides the death from the launcher, which would kill the others. The time-out of a reduction is 300 s here.
TEST(Ending, ARankThatIsKilledIsNamedAtOnceOverTcp) {
    const char* hide_death = "\"$0\" \"$@\"; code=$?; [ $code != 137 ] || sleep 25; exit $code";
    const CommandResult result = run_command(
        {MPIEXEC, "-n", "3", "sh", "-c", hide_death, ENDING_RANKS, "killed-over-tcp", "0"}, Seconds(20));
    EXPECT_EQ(result.exit_code, 7) << result.error;
    for (const char* survivor : {"[rank 0]", "[rank 2]"}) {
        // By itself, or from the one that has noticed first.
        const std::string named = std::string("\\") + survivor + " rank 1 \\(.*\\) ((closed|broke) its connection|is lost, as another rank says)";
        EXPECT_THAT(result.error, testing::ContainsRegex(named))
            << survivor;
    }
}

TEST(Ending, ADisagreementEndsAllRanksWithCode7AndBothTexts) {
    const CommandResult result = run(3, "disagree", 0);
    EXPECT_EQ(result.exit_code, 7);
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_THAT(result.error,
                    HasSubstr("[rank " + std::to_string(rank) + "] rank 1 disagrees on operation 0"));
    }
    EXPECT_THAT(result.error, HasSubstr("rank 1: bucket 0: average of 8 x float32"));
    EXPECT_THAT(result.error, HasSubstr("rank 0: bucket 0: average of 9 x float32"));
}

TEST(Ending, ARankThatFailsAloneTakesTheOthersDownWithItsCode) {
    EXPECT_EQ(run(2, "abort", 0).exit_code, 8);
    EXPECT_EQ(run(2, "one-fails", 0).exit_code, 3);
}

}  // namespace
}  // namespace mastic::comm
