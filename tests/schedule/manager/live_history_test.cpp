#include <gtest/gtest.h>

#include <mastic/schedule/manager/live_history.hpp>

namespace mastic::schedule {
namespace {

Event on_node(double time_s, EventKind kind, const std::string& node, const std::string& training = "") {
    Event event;
    event.time_s = time_s;
    event.kind = kind;
    event.node = node;
    event.training = training;
    return event;
}

Event progress_of(double time_s, int nodes, std::int64_t samples, double rate) {
    Event event;
    event.time_s = time_s;
    event.kind = EventKind::progress;
    event.training = "a";
    event.to = nodes;
    event.samples = samples;
    event.rate = rate;
    return event;
}

// n1 is idle for 100 s: 20 s unused, 10 s starting, 60 s computing, 10 s unused. n2 is idle from 50 to 80 s and unused.
std::vector<Event> two_nodes() {
    using enum EventKind;
    return {on_node(1000, node_idle, "n1"),         on_node(1020, pilot_started, "n1", "a"),
            on_node(1030, pilot_joined, "n1", "a"), progress_of(1040, 1, 100, 10),
            on_node(1050, node_idle, "n2"),         on_node(1080, node_taken, "n2"),
            progress_of(1090, 1, 600, 9),           on_node(1090, pilot_leaving, "n1", "a"),
            on_node(1091, pilot_ended, "n1", "a"),  on_node(1100, node_taken, "n1")};
}

TEST(LiveHistory, AccountsForEveryNodeSecond) {
    const LiveHistory history = live_history(two_nodes(), 1200, 8);
    const NodeSeconds& nodes = history.result.nodes;
    EXPECT_NEAR(nodes.given, 130, 1e-9);
    EXPECT_NEAR(nodes.starting, 10, 1e-9);
    EXPECT_NEAR(nodes.computing, 60, 1e-9);
    EXPECT_NEAR(nodes.unused, 60, 1e-9);
    EXPECT_NEAR(history.trace.idle_node_seconds(), 130, 1e-9);
    EXPECT_EQ(history.trace.nodes, 2);
    EXPECT_NEAR(history.trace.end, 200, 1e-9);
    EXPECT_EQ(history.begin_s, 1000);
    EXPECT_EQ(history.result.departures, 0);
}

TEST(LiveHistory, CountsProgressInNodeSecondsOfOneNode) {
    const LiveHistory history = live_history(two_nodes(), 1200, 8);
    EXPECT_NEAR(history.result.progress, 600 / 10.0, 1e-9);  // the better of the two measurements
    EXPECT_NEAR(history.result.samples.back().progress, 60, 1e-9);
    // Measured on four nodes only: a quarter of that rate is taken for one.
    const LiveHistory wide = live_history({progress_of(0, 4, 0, 20), progress_of(10, 4, 200, 20)}, 20, 8);
    EXPECT_NEAR(wide.result.progress, 200 / 5.0, 1e-9);
}

TEST(LiveHistory, SamplesNeverGoBack) {
    // A restart from an older checkpoint repeats samples; they count once.
    const LiveHistory history = live_history(
        {progress_of(0, 1, 100, 10), progress_of(10, 1, 50, 10), progress_of(20, 1, 120, 10)}, 30, 8);
    EXPECT_NEAR(history.result.progress, 12, 1e-9);
}

TEST(LiveHistory, DrawsTheNodesThatWereFilledTheLongest) {
    const LiveHistory one = live_history(two_nodes(), 1200, 1);
    ASSERT_FALSE(one.result.spans.empty());
    for (const NodeSpan& span : one.result.spans) {
        EXPECT_EQ(one.nodes[static_cast<std::size_t>(span.node)], "n1");
    }
    double computing = 0;
    for (const NodeSpan& span : one.result.spans) {
        computing += span.kind == NodeSpan::Kind::computing ? span.end - span.begin : 0;
        if (span.job >= 0) {
            EXPECT_EQ(one.jobs[static_cast<std::size_t>(span.job)], "a");
        }
    }
    EXPECT_NEAR(computing, 60, 1e-9);
}

TEST(LiveHistory, APilotThatWasLostIsADeparture) {
    using enum EventKind;
    const LiveHistory history =
        live_history({on_node(0, pilot_started, "n1", "a"), on_node(5, pilot_joined, "n1", "a"),
                      on_node(9, pilot_ended, "n1", "a")},
                     20, 8);
    EXPECT_EQ(history.result.departures, 1);
    EXPECT_NEAR(history.result.nodes.given, 9, 1e-9);  // nobody said that it was idle before or after
}

TEST(LiveHistory, NothingHappened) {
    const LiveHistory history = live_history({}, 1000, 8);
    EXPECT_EQ(history.result.nodes.given, 0);
    EXPECT_TRUE(history.result.spans.empty());
}

}  // namespace
}  // namespace mastic::schedule
