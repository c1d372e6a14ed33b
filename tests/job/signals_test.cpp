#include <stdexcept>

#include <gtest/gtest.h>

#include <mastic/job/signals.hpp>

#include "support/in_child.hpp"

namespace mastic::job {
namespace {

TEST(SignalWatch, TellsTheSignalThatAsksForAStop) {
    const struct {
        int signal;
        StopReason reason;
        const char* name;
    } cases[] = {
        {SIGTERM, StopReason::terminate, "SIGTERM"},
        {SIGINT, StopReason::interrupt, "SIGINT"},
        {SIGUSR1, StopReason::user_signal, "SIGUSR1"},
    };
    for (const auto& c : cases) {
        SignalWatch watch;
        EXPECT_EQ(watch.stop_signal(), std::nullopt);
        raise(c.signal);
        EXPECT_EQ(watch.stop_signal(), c.signal);
        EXPECT_EQ(watch.stop_reason(), c.reason);
        EXPECT_STREQ(to_string(watch.stop_reason()), c.name);
        EXPECT_FALSE(watch.take_checkpoint_request());
    }
}

TEST(SignalWatch, KeepsTheFirstSignal) {
    SignalWatch watch;
    raise(SIGUSR1);
    raise(SIGTERM);
    EXPECT_EQ(watch.stop_signal(), SIGUSR1);
    EXPECT_EQ(watch.stop_signal(), SIGUSR1);
}

TEST(SignalWatch, TakesACheckpointRequestOnceAndGoesOn) {
    SignalWatch watch;
    EXPECT_FALSE(watch.take_checkpoint_request());
    raise(SIGUSR2);
    raise(SIGUSR2);
    EXPECT_TRUE(watch.take_checkpoint_request());
    EXPECT_FALSE(watch.take_checkpoint_request());
    EXPECT_EQ(watch.stop_signal(), std::nullopt);
}

TEST(SignalWatch, HearsASignalFromAnotherProcess) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = test::start_child([&] {
        SignalWatch watch;
        if (write(ready[1], "x", 1) != 1) {
            return 1;
        }
        while (!watch.stop_signal()) {
            usleep(1000);
        }
        return watch.stop_reason() == StopReason::terminate ? 0 : 2;
    });
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    kill(child, SIGTERM);
    const int status = test::wait_status(child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SignalWatch, TakesTheSignalsThatWereHeldForIt) {
    EXPECT_EQ(test::run_child([] {
                  hold_signals();
                  raise(SIGUSR2);
                  raise(SIGTERM);
                  SignalWatch watch;
                  return watch.stop_reason() == StopReason::terminate && watch.take_checkpoint_request() ? 0 : 1;
              }),
              0);
}

TEST(SignalWatch, EndsAtOnceOnTheSecondInterrupt) {
    EXPECT_EQ(test::run_child([] {
                  const SignalWatch watch;
                  raise(SIGINT);
                  raise(SIGINT);
                  return 0;
              }),
              130);
}

TEST(SignalWatch, EndsOnASecondInterruptAfterAnotherSignalToo) {
    EXPECT_EQ(test::run_child([] {
                  const SignalWatch watch;
                  raise(SIGTERM);
                  raise(SIGINT);
                  if (watch.stop_signal() != SIGTERM) {
                      return 1;
                  }
                  raise(SIGINT);
                  return 0;
              }),
              130);
}

TEST(SignalWatch, RestoresTheFormerHandlers) {
    EXPECT_EQ(test::run_child([] {
                  { const SignalWatch watch; }
                  raise(SIGTERM);
                  return 0;
              }),
              -SIGTERM);
}

TEST(SignalWatch, IsTheOnlyOneInAProcess) {
    {
        const SignalWatch first;
        EXPECT_THROW(SignalWatch(), std::logic_error);
    }
    EXPECT_NO_THROW(SignalWatch());
}

TEST(StopReason, OfAnyOtherSignalIsNone) {
    EXPECT_EQ(stop_reason_of(SIGUSR2), StopReason::none);
    EXPECT_EQ(stop_reason_of(0), StopReason::none);
    EXPECT_STREQ(to_string(StopReason::time_limit), "time limit");
}

}  // namespace
}  // namespace mastic::job
