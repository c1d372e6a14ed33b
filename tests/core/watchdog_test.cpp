#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include <mastic/core/watchdog.hpp>

#include "support/in_child.hpp"

namespace mastic {
namespace {

constexpr Seconds never{3600};

TEST(Watchdog, StaysSilentIfTheWaitEnds) {
    std::atomic<bool> called = false;
    {
        const Watchdog watchdog(never, [&] { called = true; });
        EXPECT_FALSE(watchdog.expired());
    }
    EXPECT_FALSE(called);
}

TEST(Watchdog, CallsOnceWhenTheWaitDoesNotEnd) {
    std::promise<void> called;
    std::atomic<int> calls = 0;
    {
        const Watchdog watchdog(Seconds(0.01), [&] {
            ++calls;
            called.set_value();
        });
        called.get_future().wait();
        EXPECT_TRUE(watchdog.expired());
    }
    EXPECT_EQ(calls, 1);
}

TEST(Watchdog, EndsAProcessThatHangsWithTheRunsOwnCode) {
    EXPECT_EQ(test::run_child([] {
                  const Watchdog watchdog(Seconds(0.05), [] { _exit(75); });
                  for (;;) {
                      pause();
                  }
                  return 0;
              }),
              75);
}

}  // namespace
}  // namespace mastic
