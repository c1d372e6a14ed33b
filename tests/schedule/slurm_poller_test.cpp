#include <mastic/schedule/slurm_poller.hpp>

#include <atomic>
#include <latch>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/error.hpp>

#include "schedule/recorded_slurm.hpp"
#include "support/captured_log.hpp"
#include "support/expect_error.hpp"

namespace mastic::schedule {
namespace {

using testing::HasSubstr;

// A Slurm that answers what was recorded, and takes its time for it.
struct SlowSlurm {
    std::chrono::steady_clock::time_point now{};
    Seconds answer_time{0.01};  // of a command
    int exit_code = 0;
    bool hides_jobs = false;
    std::vector<std::string> asked = {};

    void pass(Seconds time) { now += std::chrono::duration_cast<std::chrono::steady_clock::duration>(time); }

    CommandRunner runner() {
        return [this](const std::vector<std::string>& command, Seconds) {
            const ViewCommands& commands = view_commands();
            ViewAnswers answers = test::recorded_answers();
            if (hides_jobs) {
                answers.jobs.clear();
            }
            pass(answer_time);
            asked.push_back(command == commands.jobs    ? "jobs"
                            : command == commands.nodes ? "nodes"
                                                        : "reservations");
            const std::string& output = command == commands.jobs    ? answers.jobs
                                        : command == commands.nodes ? answers.nodes
                                                                    : answers.reservations;
            return CommandResult{exit_code, exit_code == 0 ? output : "",
                                 exit_code == 0 ? "" : "controller is away\nmore"};
        };
    }
    PollerClocks clocks() {
        return {[this] { return now; }, [] { return test::recorded_at; }};
    }
};

TEST(SlurmPoller, AsksOneRoundAnInterval) {
    SlowSlurm slurm;
    SlurmPoller poller(slurm.runner(), {.interval = Seconds(10)}, slurm.clocks());
    EXPECT_EQ(poller.view(), nullptr);
    EXPECT_FALSE(poller.age());
    EXPECT_TRUE(poller.poll());
    EXPECT_THAT(slurm.asked, testing::ElementsAre("jobs", "nodes", "reservations"));
    ASSERT_NE(poller.view(), nullptr);
    EXPECT_EQ(poller.view()->nodes.size(), 12u);
    slurm.pass(Seconds(9.9));
    EXPECT_FALSE(poller.poll());
    EXPECT_EQ(slurm.asked.size(), 3u);
    slurm.pass(Seconds(0.1));
    EXPECT_TRUE(poller.poll());
    EXPECT_EQ(slurm.asked.size(), 6u);
}

TEST(SlurmPoller, TakesAtMostItsShareOfTheControllersTime) {
    SlowSlurm slurm;
    slurm.answer_time = Seconds(0.2);
    SlurmPoller poller(slurm.runner(), {.interval = Seconds(10)}, slurm.clocks());
    const auto begin = slurm.now;
    for (int step = 0; step < 10'000; ++step) {
        poller.poll();
        slurm.pass(Seconds(0.1));
    }
    const double busy = 0.2 * static_cast<double>(slurm.asked.size());
    EXPECT_LE(busy, 0.01 * Seconds(slurm.now - begin).count() + 3 * 0.2);
    EXPECT_GE(slurm.asked.size(), 3u * 15);
    slurm.answer_time = Seconds(0.001);
    slurm.pass(Seconds(60));
    EXPECT_TRUE(poller.poll());
    EXPECT_LE(poller.until_due(), Seconds(10));
}

TEST(SlurmPoller, KeepsTheLastViewAndAsksLessOftenAfterErrors) {
    SlowSlurm slurm;
    SlurmPoller poller(slurm.runner(), {.interval = Seconds(10), .longest = Seconds(60)}, slurm.clocks());
    EXPECT_TRUE(poller.poll());
    const auto first = poller.view();
    slurm.exit_code = 1;
    double last_wait = 0;
    for (int round = 0; round < 40; ++round) {
        slurm.pass(poller.until_due());
        slurm.asked.clear();
        EXPECT_FALSE(poller.poll());
        EXPECT_EQ(slurm.asked.size(), 1u);  // the rest is not asked
        EXPECT_GE(poller.until_due().count(), last_wait);
        last_wait = poller.until_due().count();
    }
    EXPECT_NEAR(last_wait, 60, 0.1);
    EXPECT_EQ(poller.view(), first);
    EXPECT_GT(*poller.age(), Seconds(1000));
    EXPECT_EQ(poller.problem(), "squeue failed: controller is away");
    slurm.exit_code = 0;
    slurm.pass(poller.until_due());
    EXPECT_TRUE(poller.poll());
    EXPECT_EQ(poller.problem(), "");
    EXPECT_LE(poller.until_due(), Seconds(10));
    EXPECT_LT(*poller.age(), Seconds(1));
}

TEST(SlurmPoller, AnAnswerWithoutNodesIsNone) {
    SlurmPoller poller([](const std::vector<std::string>&, Seconds) { return CommandResult{}; });
    EXPECT_FALSE(poller.poll());
    EXPECT_EQ(poller.view(), nullptr);
    EXPECT_THAT(poller.problem(), testing::HasSubstr("names no node"));
}

TEST(SlurmPoller, NeverAsksTwiceAtATime) {
    std::latch in_round(1), go_on(1);
    std::atomic<int> rounds = 0;
    SlurmPoller poller([&](const std::vector<std::string>& command, Seconds) {
        if (command == view_commands().jobs) {
            ++rounds;
            in_round.count_down();
            go_on.wait();
        }
        return CommandResult{};
    });
    std::jthread other([&] { poller.poll(); });
    in_round.wait();
    EXPECT_FALSE(poller.poll());
    go_on.count_down();
    other.join();
    EXPECT_EQ(rounds, 1);
}

// A job that starts between squeue and sinfo is hidden in one view.
TEST(SlurmPoller, WarnsOfHiddenJobsOnceAndOnlyIfTheyStayHidden) {
    const test::CapturedLog log;
    const auto told = [&log] {
        const std::string text = log.text();
        int times = 0;
        for (auto at = text.find("does not show"); at != text.npos; at = text.find("does not show", at + 1)) {
            ++times;
        }
        return times;
    };
    SlowSlurm slurm;
    SlurmPoller poller(slurm.runner(), {.interval = Seconds(10)}, slurm.clocks());
    const auto look = [&](bool hidden) {
        slurm.hides_jobs = hidden;
        slurm.pass(Seconds(10));
        EXPECT_TRUE(poller.poll());
    };
    look(true);
    look(false);
    look(true);
    EXPECT_EQ(told(), 0);
    look(true);
    look(true);
    EXPECT_EQ(told(), 1);
}

TEST(SlurmPoller, SaysWhatIsMissing) {
    const auto slurm_with = [](int exit_code) {
        return [exit_code](const std::vector<std::string>&, Seconds) {
            return CommandResult{exit_code, "", ""};
        };
    };
    test::expect_error(ExitCode::environment, "squeue is not installed here",
                       [&] { ask_slurm(slurm_with(127), {}); });
    test::expect_error(ExitCode::environment, "squeue did not answer within",
                       [&] { ask_slurm(slurm_with(124), {}); });
}

TEST(SlurmPoller, TellsWhatItAsks) {
    const std::string text = describe_polling({});
    EXPECT_THAT(text, HasSubstr("every 10"));
    EXPECT_THAT(text, HasSubstr("squeue --all"));
    EXPECT_THAT(text, HasSubstr("scontrol --all --oneliner show reservation"));
    EXPECT_THAT(text, testing::Not(HasSubstr("SQUEUE_")));
}

}  // namespace
}  // namespace mastic::schedule
