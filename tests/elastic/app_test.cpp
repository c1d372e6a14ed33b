// A program of one's own (tests/install/example/regression.cpp): the same binary on ranks of MPI, and as members that join, leave
// and are killed; the result is the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>

#include <mastic/checkpoint/store.hpp>
#include <mastic/core/command.hpp>

#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace mastic::test {
namespace {

using testing::HasSubstr;

struct Fitted {
    long right = -1;
    double weight = 0;
};

Fitted result_in(const std::string& output) {
    Fitted fitted;
    long samples = 0;
    const auto at = output.rfind(" of 20000 right");
    const auto line =
        at == output.npos ? output.npos : output.rfind('\n', at) + 1;  // npos + 1: the beginning
    EXPECT_TRUE(at != output.npos && std::sscanf(output.c_str() + line, "%ld of %ld right, first weight %lf",
                                                 &fitted.right, &samples, &fitted.weight) == 3)
        << output;
    return fitted;
}

class OwnApp : public testing::Test {
  protected:
    ChildProcess member(long steps) {
        return {{APP, "--elastic.join", run.string(), "--elastic.timeout", "2", "--fit.steps",
                 std::to_string(steps)},
                dir / ("member-" + std::to_string(++started) + ".txt")};
    }
    std::string ranks(int count, long steps) const {
        const std::vector<std::string> command = {
            MPIEXEC,     "-n",          std::to_string(count), APP,
            "--run.dir", dir / "fixed", "--fit.steps",         std::to_string(steps)};
        const CommandResult result = run_command(command, Seconds(150));
        EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
        return result.output;
    }
    long saved_step() const {
        const auto newest = checkpoint::CheckpointStore(run / "checkpoints").newest_valid();
        return newest ? static_cast<long>(newest->manifest.step) : -1;
    }

    TempDir dir;
    std::filesystem::path run = dir / "run";
    int started = 0;
};

bool says(const ChildProcess& process, const std::string& text) {
    return eventually([&] { return process.output().find(text) != std::string::npos; });
}

constexpr long without_end = 1'000'000'000;

TEST_F(OwnApp, JoinsLeavesAndDeathsChangeNothingInTheResult) {
    ChildProcess first = member(without_end);
    ASSERT_TRUE(says(first, "rank 0 of 1")) << first.output();
    ChildProcess second = member(without_end);
    ASSERT_TRUE(says(first, "rank 0 of 2")) << first.output() << second.output();
    ChildProcess third = member(without_end);
    ASSERT_TRUE(says(third, "rank 2 of 3")) << first.output() << third.output();
    second.kill(SIGTERM);
    EXPECT_EQ(second.wait(), 75) << second.output();
    EXPECT_THAT(second.output(), HasSubstr("the others go on"));
    ASSERT_TRUE(says(third, "rank 1 of 2")) << third.output();
    first.kill(SIGKILL);  // the one that leads
    ASSERT_TRUE(says(third, "leading the run")) << third.output();
    third.kill(SIGTERM);  // the last one saves
    EXPECT_EQ(third.wait(), 75) << third.output();

    const long steps = saved_step() + 10;
    ASSERT_GT(steps, 10);
    ChildProcess last = member(steps);
    EXPECT_EQ(last.wait(), 0) << last.output();
    EXPECT_THAT(last.output(), HasSubstr("resumed at step " + std::to_string(steps - 10)));
    const Fitted elastic = result_in(last.output());
    const Fitted fixed = result_in(ranks(2, steps));
    EXPECT_EQ(elastic.right, fixed.right);
    EXPECT_NEAR(elastic.weight, fixed.weight, 1e-9);
}

// The others have evaluated the last step and wait for it.
TEST_F(OwnApp, WhoLeadsMayFailBeforeItHasSavedTheEnd) {
    constexpr long steps = 4000;
    ChildProcess first = member(steps);
    ASSERT_TRUE(says(first, "rank 0 of 1")) << first.output();
    ChildProcess second = member(steps);
    ASSERT_TRUE(says(first, "rank 0 of 2")) << first.output() << second.output();
    const std::filesystem::path checkpoints = run / "checkpoints";
    std::filesystem::remove_all(checkpoints);
    dir.write("run/checkpoints", "in the way of the first one's checkpoint");
    EXPECT_EQ(first.wait(), 5) << first.output();
    std::filesystem::remove(checkpoints);
    EXPECT_EQ(second.wait(), 0) << second.output();
    EXPECT_EQ(saved_step(), steps);
}

TEST_F(OwnApp, AFixedRunGoesOnFromItsCheckpoint) {
    const Fitted once = result_in(ranks(1, 40));
    std::filesystem::remove_all(dir / "fixed");
    ranks(2, 15);
    const CommandResult again =
        run_command({MPIEXEC, "-n", "3", APP, "--run.dir", dir / "fixed", "--fit.steps", "40"}, Seconds(100));
    EXPECT_EQ(again.exit_code, 0) << again.error;
    EXPECT_THAT(again.error, HasSubstr("resumed at step 15"));
    EXPECT_NEAR(result_in(again.output).weight, once.weight, 1e-9);
}

TEST_F(OwnApp, AMistakeInTheOptionsIsNamed) {
    const CommandResult result = run_command({APP, "--fit.steps", "0"}, Seconds(60));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.error, HasSubstr("--fit.steps"));
    const CommandResult help = run_command({APP, "--help"}, Seconds(60));
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.output, HasSubstr("steps of gradient descent"));
}

}  // namespace
}  // namespace mastic::test
