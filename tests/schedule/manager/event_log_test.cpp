#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/schedule/manager/event_log.hpp>

#include "support/temp_dir.hpp"

namespace mastic::schedule {
namespace {

Event decision() {
    Event event;
    event.time_s = 1'800'000'000.25;
    event.kind = EventKind::decision;
    event.training = "a";
    event.from = 4;
    event.text = "b gains more";
    return event;
}

TEST(EventLog, LinesComeBack) {
    const mastic::test::TempDir dir;
    {
        EventLog log(dir / "events.jsonl");
        log.write(decision());
    }
    EventLog(dir / "events.jsonl").write(decision());  // the next manager goes on
    const EventHistory history = read_events(dir / "events.jsonl");
    ASSERT_EQ(history.events.size(), 2u);
    const Event& event = history.events[1];
    EXPECT_EQ(event.time_s, 1'800'000'000.25);
    EXPECT_EQ(event.kind, EventKind::decision);
    EXPECT_EQ(event.training, "a");
    EXPECT_EQ(event.from, 4);
    EXPECT_EQ(event.to, 0);
    EXPECT_EQ(event.text, "b gains more");
}

TEST(EventLog, EveryKindComesBack) {
    for (int i = 0; i <= static_cast<int>(EventKind::progress); ++i) {
        Event event;
        event.kind = static_cast<EventKind>(i);
        const EventHistory history = parse_events(to_json_line(event) + "\n");
        ASSERT_EQ(history.events.size(), 1u) << i;
        EXPECT_EQ(history.events[0].kind, event.kind);
    }
}

TEST(EventLog, TornAndUnknownLinesAreCounted) {
    const std::string good = to_json_line(decision()) + "\n";
    const EventHistory history = parse_events(good + R"({"time_s": 1, "kind": "invented"})" + "\n" +
                                              "{\"time_s\": 17, \"ki\n" + good + good.substr(0, 20));
    EXPECT_EQ(history.events.size(), 2u);
    EXPECT_EQ(history.damaged_lines, 3u);
}

TEST(EventLog, NoFileIsNoHistory) {
    EXPECT_TRUE(read_events("/nowhere/events.jsonl").events.empty());
}

}  // namespace
}  // namespace mastic::schedule
