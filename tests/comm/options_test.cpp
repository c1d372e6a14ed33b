#include <set>
#include <string>

#include <gtest/gtest.h>

#include <mastic/comm/options.hpp>

#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

TEST(Algorithms, HaveUniqueNamesAndADescription) {
    std::set<std::string> names;
    for (const Algorithm& algorithm : algorithms()) {
        EXPECT_TRUE(names.insert(algorithm.name).second);
        EXPECT_FALSE(std::string(algorithm.description).empty());
        EXPECT_EQ(&find_algorithm(algorithm.name), &algorithm);
    }
    EXPECT_TRUE(names.contains("native-blocking") && names.contains("native-pipelined"));
    EXPECT_TRUE(names.contains(GroupOptions().algorithm));
}

TEST(Algorithms, AMisspeltNameGetsASuggestion) {
    test::expect_error(ExitCode::usage, "did you mean 'native-pipelined'?",
                       [] { find_algorithm("native-pipeline"); });
    test::expect_error(ExitCode::usage, "one of auto, native-blocking, native-pipelined",
                       [] { find_algorithm("x"); });
}

TEST(GroupOptions, AreChecked) {
    validate({});
    test::expect_error(ExitCode::usage, "unknown allreduce algorithm",
                       [] { validate({.algorithm = "square"}); });
    test::expect_error(ExitCode::usage, "allreduce depth", [] { validate({.depth = 0}); });
    test::expect_error(ExitCode::usage, "operations in flight",
                       [] { validate({.operations_in_flight = 0}); });
    test::expect_error(ExitCode::usage, "compute threads", [] { validate({.compute_threads = 0}); });
    test::expect_error(ExitCode::usage, "allreduce timeout",
                       [] { validate({.limits = {.timeout = Seconds(0)}}); });
}

TEST(PollPolicy, NamesAreReadBack) {
    for (const auto& entry : poll_policies()) {
        EXPECT_EQ(parse_poll_policy(entry.name), entry.policy);
        EXPECT_STREQ(to_string(entry.policy), entry.name);
    }
    test::expect_error(ExitCode::usage, "did you mean 'sleep'?", [] { parse_poll_policy("slep"); });
}

TEST(PollPolicy, AutomaticSpinsOnlyWhereEachRankHasACoreToSpare) {
    EXPECT_EQ(resolve(PollPolicy::automatic, 1, 1), PollPolicy::sleep);
    EXPECT_EQ(resolve(PollPolicy::automatic, 0.5, 1), PollPolicy::sleep);
    EXPECT_EQ(resolve(PollPolicy::automatic, 2, 1), PollPolicy::spin);
    EXPECT_EQ(resolve(PollPolicy::automatic, 4, 4), PollPolicy::sleep);
    EXPECT_EQ(resolve(PollPolicy::automatic, 5, 4), PollPolicy::spin);
    EXPECT_EQ(resolve(PollPolicy::yield, 8, 1), PollPolicy::yield);
}

TEST(Backoff, NapsGrowToAMillisecondAndStartAgainAfterProgress) {
    Backoff backoff;
    std::chrono::microseconds longest{0};
    for (int poll = 0; poll < 1000; ++poll) {
        const Pause pause = backoff.next(PollPolicy::sleep);
        EXPECT_FALSE(pause.yield);
        EXPECT_GE(pause.nap, longest);
        longest = pause.nap;
    }
    EXPECT_EQ(longest.count(), 1024);
    backoff.reset();
    EXPECT_EQ(backoff.next(PollPolicy::sleep).nap.count(), 1);
    EXPECT_TRUE(backoff.next(PollPolicy::yield).yield);
    EXPECT_EQ(backoff.next(PollPolicy::spin).nap.count(), 0);
    EXPECT_FALSE(backoff.next(PollPolicy::spin).yield);
}

}  // namespace
}  // namespace mastic::comm
