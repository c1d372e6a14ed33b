#include <atomic>
#include <csignal>
#include <ctime>
#include <functional>
#include <mutex>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <mastic/comm/progress_thread.hpp>

#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// What the test sees of the operations: who runs where, and when each may complete.
struct Scene {
    std::atomic<bool> open{false};  // gates complete once it is
    std::atomic<int> steps{0};
    std::mutex mutex;
    std::vector<std::string> events;

    void note(const std::string& event) {
        const std::lock_guard lock(mutex);
        events.push_back(event);
    }
};

class Gate : public Operation {
  public:
    Gate(Scene& scene, std::string name) : scene_(scene), name_(std::move(name)) {}
    void start() override { scene_.note("start " + name_); }
    Step step() override {
        ++scene_.steps;
        if (!scene_.open) {
            return Step::waiting;
        }
        scene_.note("end " + name_);
        return Step::complete;
    }

  private:
    Scene& scene_;
    std::string name_;
};

class Failing : public Operation {
  public:
    explicit Failing(bool at_start) : at_start_(at_start) {}
    void start() override {
        if (at_start_) {
            throw Error(ExitCode::collective, "failed at start");
        }
    }
    Step step() override { throw Error(ExitCode::collective, "failed at step"); }

  private:
    bool at_start_;
};

// Its steps last as long as the test wants, as when a socket has much to read.
class LongStep : public Operation {
  public:
    explicit LongStep(Scene& scene) : scene_(scene) {}
    void start() override {}
    Step step() override {
        ++scene_.steps;
        while (!scene_.open) {
            std::this_thread::sleep_for(1ms);
        }
        scene_.note("left");
        return Step::waiting;
    }

  private:
    Scene& scene_;
};

// Waits for something that another thread does; long before the test's own time limit it gives up.
void eventually(const std::function<bool()>& condition) {
    const auto deadline = Clock::now() + 10s;
    while (!condition() && Clock::now() < deadline) {
        std::this_thread::sleep_for(1ms);
    }
    ASSERT_TRUE(condition());
}

class ProgressThreadTest : public testing::Test {
  protected:
    Request submit_gate(const std::string& name, int lane, bool exclusive = false) {
        return progress_.submit(channel_, {.operation = std::make_unique<Gate>(scene_, name),
                                           .name = name,
                                           .lane = lane,
                                           .exclusive = exclusive});
    }

    Scene scene_;
    ProgressThread progress_;
    std::shared_ptr<ProgressThread::Channel> channel_ = progress_.open_channel({});
};

TEST_F(ProgressThreadTest, ARequestIsDoneWhenItsOperationIs) {
    const Request request = submit_gate("a", 0);
    eventually([this] { return scene_.steps > 3; });
    EXPECT_FALSE(request.test());
    scene_.open = true;
    request.wait();
    EXPECT_TRUE(request.test());
    EXPECT_GT(request.duration().count(), 0);
}

TEST_F(ProgressThreadTest, DoesNotRunWhileNothingIsInFlight) {
    scene_.open = true;
    submit_gate("a", 0).wait();
    const auto cpu_before = std::clock();
    const int steps_before = scene_.steps;
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(scene_.steps, steps_before);
    EXPECT_LT(std::clock() - cpu_before, CLOCKS_PER_SEC / 20)
        << "of 200 ms at most 50 ms were used by this process";
}

TEST_F(ProgressThreadTest, AnExclusiveOperationRunsAloneOverAllChannels) {
    const auto other = progress_.open_channel({});
    submit_gate("before", 0);
    progress_.submit(
        other, {.operation = std::make_unique<Gate>(scene_, "fence"), .name = "fence", .exclusive = true});
    const Request last = submit_gate("behind", 1);
    eventually([this] { return scene_.steps > 3; });
    scene_.open = true;
    last.wait();
    EXPECT_THAT(scene_.events, testing::ElementsAre("start before", "end before", "start fence", "end fence",
                                                    "start behind", "end behind"));
}

TEST_F(ProgressThreadTest, CallRunsAFunctionThere) {
    std::thread::id where;
    progress_.call(channel_, "call", [&where] { where = std::this_thread::get_id(); }).wait();
    EXPECT_NE(where, std::thread::id());
    EXPECT_NE(where, std::this_thread::get_id());
}

TEST_F(ProgressThreadTest, LeavesSignalsToTheProgram) {
    sigset_t blocked;
    sigemptyset(&blocked);
    progress_.call(channel_, "mask", [&blocked] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }).wait();
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    EXPECT_EQ(sigismember(&blocked, SIGUSR1), 1);
}

TEST_F(ProgressThreadTest, AnErrorReachesTheRequestAndEndsTheChannelOnly) {
    for (const bool at_start : {true, false}) {
        const auto channel = progress_.open_channel({});
        const Request behind_nothing =
            progress_.submit(channel, {.operation = std::make_unique<Failing>(at_start), .name = "bucket 1"});
        test::expect_error(ExitCode::collective, at_start ? "failed at start" : "failed at step",
                           [&] { behind_nothing.wait(); });
        test::expect_error(ExitCode::collective, "failed at", [&] { behind_nothing.test(); });
        test::expect_error(ExitCode::collective, "'bucket 2' cannot start: 'bucket 1' failed",
                           [&] { progress_.submit(channel, {.operation = nullptr, .name = "bucket 2"}); });
    }
    scene_.open = true;
    submit_gate("elsewhere", 0).wait();
}

class StallTest : public ProgressThreadTest {
  protected:
    void SetUp() override {
        before_ = spdlog::default_logger();
        spdlog::set_default_logger(
            std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_)));
        channel_ =
            progress_.open_channel({.limits = {.stall_report = Seconds(0.05), .timeout = Seconds(0.3)}});
    }
    void TearDown() override { spdlog::set_default_logger(before_); }

    std::ostringstream log_;
    std::shared_ptr<spdlog::logger> before_;
};

// Whoever is told frees the buffers that the step writes to.
TEST_F(ProgressThreadTest, ARequestFailsWhenNoStepIsUnderWay) {
    const Request request =
        progress_.submit(channel_, {.operation = std::make_unique<LongStep>(scene_), .name = "long"});
    const Request behind = submit_gate("behind", 1);
    eventually([this] { return scene_.steps == 1; });
    progress_.abandon(channel_, "rank 1 is lost");
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(request.test());
    EXPECT_FALSE(behind.test());
    scene_.open = true;
    test::expect_error(ExitCode::collective, "rank 1 is lost", [&] { request.wait(); });
    test::expect_error(ExitCode::collective, "rank 1 is lost", [&] { behind.wait(); });
    EXPECT_THAT(scene_.events, testing::Contains("left"));
    EXPECT_EQ(scene_.steps, 1);
}

TEST_F(ProgressThreadTest, BuffersAreKeptUntilTheirOperationHasEnded) {
    auto owner = std::make_shared<int>();
    const std::weak_ptr<int> seen = owner;
    Request request = progress_.submit(
        channel_, {.operation = std::make_unique<Gate>(scene_, "a"), .owner = std::move(owner), .name = "a"});
    eventually([this] { return scene_.steps > 0; });
    EXPECT_FALSE(seen.expired());
    scene_.open = true;
    request.wait();
    EXPECT_TRUE(seen.expired()) << "free by the time that the caller goes on";
}

TEST_F(ProgressThreadTest, BuffersOfWhatNeverCompletesAreKeptAsLongAsTheThread) {
    auto owner = std::make_shared<int>();
    const std::weak_ptr<int> seen = owner;
    {
        const Request forgotten = progress_.submit(
            channel_, {.operation = std::make_unique<Gate>(scene_, "a"), .owner = std::move(owner), .name = "a"});
        progress_.abandon(channel_, "rank 1 is lost");
        test::expect_error(ExitCode::collective, "rank 1 is lost", [&] { forgotten.wait(); });
    }
    EXPECT_FALSE(seen.expired()) << "a stream may still read or write them";
}

TEST_F(StallTest, IsReportedByNameThenEndsAllThatWaits) {
    const Request stalled = submit_gate("bucket 3", 0);
    const Request same_lane = submit_gate("bucket 4", 0);
    test::expect_error(ExitCode::collective, "'bucket 3' did not complete within", [&] { stalled.wait(); });
    EXPECT_THAT(log_.str(), HasSubstr("waiting for 'bucket 3' since"));
    EXPECT_THAT(log_.str(), HasSubstr("in flight: 'bucket 3' (started"));
    EXPECT_THAT(log_.str(), HasSubstr("'bucket 4' (waits to start)"));
    test::expect_error(ExitCode::collective, "'bucket 3' did not complete", [&] { same_lane.wait(); });
    test::expect_error(ExitCode::collective, "'bucket 5' cannot start", [&] { submit_gate("bucket 5", 0); });
    const int steps = scene_.steps;
    std::this_thread::sleep_for(20ms);
    EXPECT_LE(scene_.steps, steps + 1) << "what timed out is not driven any more";
    EXPECT_FALSE(progress_.shutdown(Seconds(5))) << "its buffer may still be in use";
}

TEST_F(StallTest, ATimeOutLeavesNoStepBehind) {
    const Request request =
        progress_.submit(channel_, {.operation = std::make_unique<LongStep>(scene_), .name = "long"});
    std::thread opener([this] {
        std::this_thread::sleep_for(600ms);
        scene_.open = true;
    });
    test::expect_error(ExitCode::collective, "'long' did not complete within", [&] { request.wait(); });
    EXPECT_TRUE(scene_.open);
    opener.join();
}

TEST_F(ProgressThreadTest, ShutdownLetsThingsFinish) {
    const Request request = submit_gate("a", 0);
    const Request waiting = submit_gate("b", 0);
    std::thread opener([this] {
        std::this_thread::sleep_for(50ms);
        scene_.open = true;
    });
    EXPECT_TRUE(progress_.shutdown(Seconds(10)));
    opener.join();
    EXPECT_TRUE(request.test());
    EXPECT_TRUE(waiting.test());
    test::expect_error(ExitCode::usage, "session had ended", [this] { submit_gate("late", 0); });
}

TEST_F(ProgressThreadTest, ShutdownIsBoundedAndFailsTheRest) {
    const Request request = submit_gate("a", 0);
    EXPECT_FALSE(progress_.shutdown(Seconds(0.05)));
    test::expect_error(ExitCode::collective, "group was closed", [&] { request.wait(); });
}

TEST(ProgressThread, IsLeftBehindIfABlockingOperationDoesNotReturn) {
    // Static, since the thread outlives the test.
    static std::atomic<bool> release;
    static std::atomic<bool> released;
    release = false;
    released = false;
    {
        ProgressThread progress;
        const auto channel = progress.open_channel({});
        progress.call(channel, "blocks", [] {
            while (!release) {
                std::this_thread::sleep_for(1ms);
            }
            released = true;
        });
        EXPECT_FALSE(progress.shutdown(Seconds(0.05)));
    }
    release = true;
    eventually([] { return released.load(); });
}

}  // namespace
}  // namespace mastic::comm
