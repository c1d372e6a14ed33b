#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/comm/operation_queue.hpp>

namespace mastic::comm {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint64_t no_fence = ~0ull;

class OperationQueueTest : public testing::Test {
  protected:
    void push(const std::string& name, int lane, int priority = 0, bool exclusive = false) {
        queue_.push(
            {.ticket = next_ticket_++,
             .lane = lane,
             .priority = priority,
             .exclusive = exclusive,
             .operation = nullptr,
             .state = std::make_shared<Request::State>(name, WaitLimits{}, std::weak_ptr<StallSource>())});
    }
    std::vector<std::string> start_all(std::uint64_t fence = no_fence) {
        std::vector<std::string> names;
        while (QueuedOperation* entry = queue_.start_next(fence)) {
            names.push_back(entry->state->name);
        }
        return names;
    }
    void complete(const std::string& name) {
        queue_.running().remove_if([&name](const auto& entry) { return entry.state->name == name; });
    }

    OperationQueue queue_{2};
    std::uint64_t next_ticket_ = 0;
};

TEST_F(OperationQueueTest, StartsAtMostTheLimitByAge) {
    for (const char* name : {"a", "b", "c"}) {
        push(name, static_cast<int>(next_ticket_));
    }
    EXPECT_THAT(start_all(), ElementsAre("a", "b"));
    EXPECT_THAT(start_all(), IsEmpty());
    complete("b");
    EXPECT_THAT(start_all(), ElementsAre("c"));
}

TEST_F(OperationQueueTest, OnePlaceIsTheOldestsTheOthersGoByPriority) {
    push("oldest", 0, 0);
    push("low", 1, 1);
    push("high", 2, 9);
    push("also high", 3, 9);
    EXPECT_THAT(start_all(), ElementsAre("oldest", "high"));
    complete("high");
    EXPECT_THAT(start_all(), ElementsAre("also high"));
    complete("oldest");
    EXPECT_THAT(start_all(), ElementsAre("low"));
}

TEST_F(OperationQueueTest, TheOldestIsNotOvertakenForever) {
    push("old", 0, 0);
    EXPECT_THAT(start_all(), ElementsAre("old"));
    push("patient", 1, 0);
    push("urgent", 2, 5);
    push("more urgent", 3, 9);
    EXPECT_THAT(start_all(), ElementsAre("more urgent"));
    complete("old");
    EXPECT_THAT(start_all(), ElementsAre("patient"));
}

TEST_F(OperationQueueTest, OneOfALaneRunsAtATimeAndInOrder) {
    push("first", 0);
    push("second", 0, 9);
    push("elsewhere", 1);
    EXPECT_THAT(start_all(), ElementsAre("first", "elsewhere"));
    complete("elsewhere");
    EXPECT_THAT(start_all(), IsEmpty());
    complete("first");
    EXPECT_THAT(start_all(), ElementsAre("second"));
}

TEST_F(OperationQueueTest, WhatWaitsBeforeAnUrgentOneInheritsItsUrgency) {
    push("oldest", 0);
    push("medium", 1, 5);
    push("in front", 2, 0);
    push("urgent", 2, 9);
    EXPECT_THAT(start_all(), ElementsAre("oldest", "in front"));
}

TEST_F(OperationQueueTest, NothingPassesAFence) {
    push("before", 0);
    push("fence", 1, 0, true);
    push("behind", 2, 9);
    EXPECT_EQ(queue_.waiting_fence(), 1u);
    EXPECT_THAT(start_all(1), ElementsAre("before"));
    EXPECT_TRUE(queue_.has_older_than(1));
    complete("before");
    EXPECT_FALSE(queue_.has_older_than(1));
    EXPECT_THAT(start_all(1), IsEmpty());
    EXPECT_EQ(queue_.start_exclusive(1)->state->name, "fence");
    EXPECT_EQ(queue_.waiting_fence(), std::nullopt);
    EXPECT_EQ(queue_.start_exclusive(1), nullptr);
}

TEST_F(OperationQueueTest, DescribesWhatRunsAndWhatWaits) {
    EXPECT_EQ(queue_.describe({}), "nothing");
    push("a", 0);
    queue_.start_next(no_fence)->started = Clock::time_point(std::chrono::seconds(10));
    for (int i = 0; i < 9; ++i) {
        push("w" + std::to_string(i), 1);
    }
    const std::string text = queue_.describe(Clock::time_point(std::chrono::seconds(41)));
    EXPECT_THAT(text, StartsWith("'a' (started 31"));
    EXPECT_THAT(text, HasSubstr("'w0' (waits to start)"));
    EXPECT_THAT(text, EndsWith("and 2 more"));
}

}  // namespace
}  // namespace mastic::comm
