// ProgressThread::run: a caller drives its own operation, and hands it over when it is stuck.
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include <mastic/comm/progress_thread.hpp>
#include <mastic/comm/sequence.hpp>

#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using namespace std::chrono_literals;

// Steps `advances` times, then waits until it may end. Notes who drove its last step.
class Probe : public Operation {
  public:
    Probe(int advances, std::atomic<bool>& may_end, std::atomic<std::thread::id>& last, bool event_driven = false)
        : advances_(advances), may_end_(may_end), last_(last), event_driven_(event_driven) {}
    void start() override {}
    Step step() override {
        last_ = std::this_thread::get_id();
        if (advances_ > 0) {
            --advances_;
            return Step::advanced;
        }
        return may_end_ ? Step::complete : Step::waiting;
    }
    bool event_driven() const override { return event_driven_; }

  private:
    int advances_;
    std::atomic<bool>& may_end_;
    std::atomic<std::thread::id>& last_;
    bool event_driven_;
};

std::chrono::nanoseconds cpu_clock() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

class CallerDrives : public testing::Test {
  protected:
    // Until the new thread is at rest; before that it drives everything itself.
    void SetUp() override {
        may_end = true;
        for (int tries = 0; tries < 1000 && last != std::this_thread::get_id(); ++tries) {
            run_probe(0);
            std::this_thread::sleep_for(1ms);
        }
        ASSERT_EQ(last.load(), std::this_thread::get_id()) << "a caller never drives";
        may_end = false;
        last = std::thread::id{};
    }

    void run_probe(int advances, bool event_driven = false) {
        progress.run(channel, {.operation = std::make_unique<Probe>(advances, may_end, last, event_driven), .name = "p"});
    }
    std::thread open_later(std::chrono::milliseconds delay) {
        return std::thread([this, delay] {
            std::this_thread::sleep_for(delay);
            may_end = true;
            progress.event_loop().wake();
        });
    }

    std::atomic<bool> may_end{false};
    std::atomic<std::thread::id> last;
    ProgressThread progress;
    std::shared_ptr<ProgressThread::Channel> channel = progress.open_channel({});
};

TEST_F(CallerDrives, WhatGetsFurther) {
    may_end = true;
    run_probe(1000);
    EXPECT_EQ(last.load(), std::this_thread::get_id());
}

TEST_F(CallerDrives, NotForLongWhatIsStuck) {
    const auto caller = std::this_thread::get_id();
    std::thread opener([&] {
        for (int tries = 0; tries < 10000 && (last == caller || last == std::thread::id{}); ++tries) {
            std::this_thread::sleep_for(1ms);
        }
        may_end = true;
        progress.event_loop().wake();
    });
    run_probe(10);
    opener.join();
    EXPECT_NE(last.load(), caller) << "the progress thread should have taken it over";
}

TEST_F(CallerDrives, SleepingWhileOnlySocketsCount) {
    std::thread opener = open_later(20ms);
    const auto cpu_before = cpu_clock();
    run_probe(0, true);
    opener.join();
    EXPECT_EQ(last.load(), std::this_thread::get_id());
    EXPECT_LT(cpu_clock() - cpu_before, 10ms) << "polled instead of sleeping";
}

TEST_F(CallerDrives, NothingWhileSomethingIsInFlight) {
    const Request first = progress.submit(
        channel, {.operation = std::make_unique<Probe>(0, may_end, last), .name = "first", .lane = 0});
    std::thread opener = open_later(50ms);
    std::atomic<std::thread::id> second_driver;
    std::atomic<bool> open{true};
    progress.run(channel,
                 {.operation = std::make_unique<Probe>(0, open, second_driver), .name = "second", .lane = 1});
    opener.join();
    first.wait();
    EXPECT_NE(second_driver.load(), std::this_thread::get_id());
}

TEST_F(CallerDrives, AnErrorReachesTheCallerAndEndsTheChannel) {
    const auto fails = [] { throw Error(ExitCode::collective, "broken stream"); };
    test::expect_error(ExitCode::collective, "broken stream",
                       [&] { progress.run(channel, {.operation = make_call(fails), .name = "bad"}); });
    test::expect_error(ExitCode::collective, "'bad' failed", [this] { run_probe(0); });
}

TEST_F(CallerDrives, AStallIsReportedAsUsual) {
    const auto impatient = progress.open_channel({.limits = {.stall_report = Seconds(0.1), .timeout = Seconds(0.3)}});
    test::expect_error(ExitCode::collective, "'p' did not complete within", [&] {
        progress.run(impatient, {.operation = std::make_unique<Probe>(0, may_end, last), .name = "p"});
    });
}

// Another thread's operations, submitted meanwhile, run when the caller is through.
TEST_F(CallerDrives, WhileOthersSubmit) {
    const auto other = progress.open_channel({});
    Request theirs;
    std::atomic<std::thread::id> unused;
    std::atomic<bool> open{true};
    progress.run(channel, {.operation = make_call([&] {
                               theirs = progress.submit(
                                   other, {.operation = std::make_unique<Probe>(3, open, unused), .name = "theirs"});
                           }),
                           .name = "mine"});
    theirs.wait();
    EXPECT_NE(unused, std::this_thread::get_id());
}

}  // namespace
}  // namespace mastic::comm
