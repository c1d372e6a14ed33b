#include <gtest/gtest.h>

#include <mastic/engine/fault_injection.hpp>

#include "support/expect_error.hpp"

namespace mastic::engine {
namespace {

TEST(FaultInjection, ConcernsOneStepOfOneRank) {
    const FaultInjection mine("nan@5:1", 1), other("nan@5:1", 0), none;
    EXPECT_TRUE(mine.poisons_loss(5));
    EXPECT_FALSE(mine.poisons_loss(4));
    EXPECT_FALSE(other.poisons_loss(5));
    EXPECT_FALSE(none.poisons_loss(0));
}

TEST(FaultInjection, LetsEachSampleTakeLonger) {
    const FaultInjection slow("slow@20000", 3);
    const auto begin = std::chrono::steady_clock::now();
    slow.compute(2);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(40));
}

TEST(FaultInjection, MayBeSlowOnOneRank) {
    const FaultInjection other("slow@3600000000:1", 0), mine("slow@20000:1", 1);
    other.compute(1);
    const auto begin = std::chrono::steady_clock::now();
    mine.compute(2);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(40));
}

TEST(FaultInjection, RefusesWhatItDoesNotKnow) {
    for (const char* text : {"nan", "nan@", "nan@x:1", "nan@1:", "boom@1:1", "nan@1:1x", "nan:1@1", "@1:1", "slow@",
                             "slow@0", "slow@x", "slow@1:", "slow@1:x", "slow@:1", "slow"}) {
        test::expect_error(ExitCode::usage, text, [&] { FaultInjection(text, 0); });
    }
}

}  // namespace
}  // namespace mastic::engine
