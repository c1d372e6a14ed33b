#include <mastic/core/command.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic {
namespace {

// Never waited for in full: it only bounds a hang.
constexpr Seconds ample{30};

CommandResult shell(const std::string& script, Seconds timeout = ample) {
    return run_command({"sh", "-c", script}, timeout);
}

TEST(RunCommand, ReturnsBothOutputsAndTheExitCode) {
    const auto result = shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.output, "out\n");
    EXPECT_EQ(result.error, "err\n");
}

TEST(RunCommand, PassesArgumentsWithoutAShell) {
    const auto result = run_command({"printf", "%s|", "a b", "$HOME", "", "*"}, ample);
    EXPECT_EQ(result.output, "a b|$HOME||*|");
}

TEST(RunCommand, TellsTheSignalThatEndedTheProgram) {
    EXPECT_EQ(shell("kill -TERM $$").exit_code, 128 + SIGTERM);
}

TEST(RunCommand, SaysNotFound) {
    const auto result = run_command({"mastic-no-such-program"}, ample);
    EXPECT_EQ(result.exit_code, 127);
    EXPECT_EQ(result.error, "mastic-no-such-program: No such file or directory");
}

TEST(RunCommand, SaysNotExecutable) {
    const test::TempDir directory;
    EXPECT_EQ(run_command({directory.write("data", "no program").string()}, ample).exit_code, 126);
}

TEST(RunCommand, RefusesAnEmptyCommand) {
    test::expect_error(ExitCode::usage, "empty command", [] { run_command({}, ample); });
}

TEST(RunCommand, ReadsMoreThanAPipeHoldsFromBothOutputs) {
    const auto result = shell("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output.size(), 3'000'000u);
    EXPECT_EQ(result.error.size(), 2'000'000u);
}

TEST(RunCommand, KillsAProgramThatPrintsWithoutEnd) {
    const Bytes most{1 << 20};
    const auto begin = std::chrono::steady_clock::now();
    for (const char* endless : {"yes", "yes >&2", "yes & wait"}) {
        const auto result = run_command_within({"sh", "-c", endless}, ample, most);
        EXPECT_EQ(result.exit_code, 128 + SIGKILL) << endless;
        EXPECT_TRUE(result.error.starts_with("sh printed more than " + human(most) + " and was killed\n")) << endless;
        EXPECT_LT(result.output.size() + result.error.size(), 2 * most.count) << endless;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, ample) << "none came to its time-out";
    const auto enough = run_command_within({"head", "-c", "1048576", "/dev/zero"}, ample, most);
    EXPECT_EQ(enough.exit_code, 0);
    EXPECT_EQ(enough.output.size(), most.count);
    EXPECT_EQ(enough.error, "");
}

// What it has printed would be taken for the whole answer.
TEST(RunCommand, DoesNotPassOffAPartOfALongAnswerAsAllOfIt) {
    const auto result = run_command_within({"head", "-c", "70000", "/dev/zero"}, ample, Bytes{60'000});
    EXPECT_NE(result.exit_code, 0);
}

TEST(RunCommand, GivesNoInput) {
    const auto result = run_command({"cat"}, ample);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output, "");
}

TEST(RunCommand, KillsTheWholeGroupAtTheTimeOut) {
    const auto result = shell("sleep 1000 & echo $! $$; wait", Seconds(0.3));
    EXPECT_EQ(result.exit_code, 124);
    int grandchild = 0;
    int child = 0;
    ASSERT_EQ(std::sscanf(result.output.c_str(), "%d %d", &grandchild, &child), 2) << result.output;
    // A killed grandchild may stay as a zombie until init reaps it: a group without living members is what
    // counts.
    const auto state = run_command({"ps", "-o", "stat=", "-p", std::to_string(grandchild)}, ample).output;
    EXPECT_TRUE(state.empty() || state[0] == 'Z') << state;
}

TEST(RunCommand, KillsAProgramThatIgnoresSigtermAndClosedItsOutputs) {
    EXPECT_EQ(shell("trap '' TERM; exec >&- 2>&-; sleep 1000", Seconds(0.2)).exit_code, 124);
}

TEST(RunCommand, DoesNotWaitForADaemonThatHoldsTheOutputs) {
    const auto result = shell("sleep 1000 & echo $!");
    EXPECT_EQ(result.exit_code, 0);
    const int daemon = std::stoi(result.output);
    EXPECT_EQ(kill(daemon, 0), 0) << "the daemon must live on";
    kill(daemon, SIGKILL);
}

TEST(RunCommand, DoesNotPassOnBlockedOrIgnoredSignals) {
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    const auto previous_handler = std::signal(SIGPIPE, SIG_IGN);
    const auto unblocked = shell("kill -USR1 $$; sleep 1000");
    const auto unignored = shell("kill -PIPE $$; sleep 1000");
    std::signal(SIGPIPE, previous_handler);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(unblocked.exit_code, 128 + SIGUSR1);
    EXPECT_EQ(unignored.exit_code, 128 + SIGPIPE);
}

}  // namespace
}  // namespace mastic
