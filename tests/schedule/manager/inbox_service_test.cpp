#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/file.hpp>
#include <mastic/schedule/manager/inbox_service.hpp>

#include "schedule/manager/orders.hpp"
#include "support/tmpfs_mount.hpp"

namespace mastic::schedule {
namespace {

using mastic::test::TempDir;
using test::state_with;
using testing::HasSubstr;

Request request_of(Request::Kind kind, const std::string& training = "") {
    Request request;
    request.kind = kind;
    request.training = training;
    request.by = "ana@login1";
    request.time_s = 1'000'000;
    return request;
}

Request resize_of(const std::string& training, int least, int most) {
    Request request = request_of(Request::Kind::resize, training);
    request.least = least;
    request.most = most;
    return request;
}

void give_pilot(const StateDirectory& state, const std::string& training) {
    TrainingRecord record = state.load(training).record;
    record.state = TrainingState::running;
    record.pilots = {{"17", "n1", "computing", 1}};
    state.write_record(training, record);
}

TEST(Inbox, ServesInOrderAndAnswers) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    const Inbox inbox = state.inbox();
    const std::string first = inbox.post(resize_of("a", 1, 4));
    const std::string second = inbox.post(resize_of("a", 2, 6));
    EXPECT_FALSE(inbox.answer_to(first));
    EXPECT_FALSE(serve_inbox(state, 1'000'001, nullptr));
    EXPECT_EQ(state.load("a").order.least, 2);
    EXPECT_EQ(state.load("a").order.most, 6);
    EXPECT_FALSE(inbox.answer_to(first)->refused);
    EXPECT_EQ(inbox.answer_to(second)->text, "resize a to 2..6 nodes");
    EXPECT_TRUE(inbox.waiting().empty());
}

TEST(Inbox, RefusesWithAReason) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"fashion"});
    const std::string unknown = state.inbox().post(request_of(Request::Kind::stop, "fashoin"));
    const std::string crossed = state.inbox().post(resize_of("fashion", 20, 0));  // its most is 8
    serve_inbox(state, 1'000'001, nullptr);
    EXPECT_TRUE(state.inbox().answer_to(unknown)->refused);
    EXPECT_THAT(state.inbox().answer_to(unknown)->text, HasSubstr("did you mean 'fashion'?"));
    EXPECT_TRUE(state.inbox().answer_to(crossed)->refused);
    EXPECT_EQ(state.load("fashion").order.least, 1);
}

TEST(Inbox, StopEndsAQueuedTrainingAndAsksARunningOneToEnd) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"queued", "running"});
    give_pilot(state, "running");
    EXPECT_FALSE(carry_out(request_of(Request::Kind::stop, "queued"), state, 5).refused);
    EXPECT_FALSE(carry_out(request_of(Request::Kind::stop, "running"), state, 5).refused);
    EXPECT_EQ(state.load("queued").record.state, TrainingState::stopped);
    EXPECT_EQ(state.load("running").record.state, TrainingState::stopping);
    EXPECT_EQ(state.load("running").record.reason, "stopped by ana@login1");
    EXPECT_EQ(state.load("running").record.pilots.size(), 1u);
    EXPECT_TRUE(carry_out(resize_of("queued", 1, 2), state, 6).refused);
}

TEST(Inbox, DrainedNodesAddUp) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {});
    Request some = request_of(Request::Kind::drain);
    some.nodes = {"n1", "n2"};
    carry_out(some, state, 1);
    some.nodes = {"n3"};
    carry_out(some, state, 1);
    EXPECT_EQ(state.drained().nodes.size(), 3u);
    carry_out(request_of(Request::Kind::drain), state, 1);
    EXPECT_TRUE(state.drained().all);
    Request undo = request_of(Request::Kind::undrain);
    undo.nodes = {"n1"};
    EXPECT_TRUE(carry_out(undo, state, 1).refused);  // all are drained
    EXPECT_FALSE(carry_out(request_of(Request::Kind::undrain), state, 1).refused);
    EXPECT_FALSE(state.drained().all);
    EXPECT_TRUE(state.drained().nodes.empty());
}

// A manager that is killed after a request was carried out, and before it was answered, does it again: the same follows.
TEST(Inbox, DoingItTwiceIsAsDoingItOnce) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a", "b"});
    give_pilot(state, "b");
    Request undrain = request_of(Request::Kind::undrain);
    undrain.nodes = {"n1"};
    for (const Request& request : {resize_of("a", 2, 3), request_of(Request::Kind::stop, "b"),
                                   request_of(Request::Kind::stop, "a"), undrain}) {
        const Answer once = carry_out(request, state, 5);
        const std::string before = to_json(state.load("a").order) + to_json(state.load("a").record) +
                                   to_json(state.load("b").record);
        EXPECT_EQ(carry_out(request, state, 6).refused, once.refused) << describe(request);
        EXPECT_EQ(to_json(state.load("a").order) + to_json(state.load("a").record) +
                      to_json(state.load("b").record),
                  before)
            << describe(request);
        if (request.kind == Request::Kind::resize) {
            continue;
        }
    }
}

// Killed between the answer and the removal: the request is there again, and is not carried out a second time.
TEST(Inbox, WhatIsAnsweredIsNotDoneAgain) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    const std::string old = state.inbox().post(resize_of("a", 1, 2));
    const std::string file = (state.path() / "inbox" / (old + ".json")).string();
    const std::string text = read_text_file(file);
    serve_inbox(state, 1'000'001, nullptr);
    carry_out(resize_of("a", 1, 7), state, 1);
    write_file_atomically(file, text);
    serve_inbox(state, 1'000'002, nullptr);
    EXPECT_EQ(state.load("a").order.most, 7);
    EXPECT_TRUE(state.inbox().waiting().empty());
}

TEST(Inbox, TornAndForeignFilesDoNotStopIt) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    mastic::test::write_file(state.path() / "inbox/0000-torn.json", "{\"format\": 1, \"req");
    mastic::test::write_file(state.path() / "inbox/0001-new.json", "{\"format\": 9}");
    mastic::test::write_file(state.path() / "inbox/0002-odd.json", R"({"format": 1, "request": "explode"})");
    mastic::test::write_file(state.path() / "inbox/x.json.tmp-1-1", "half");
    const std::string good = state.inbox().post(resize_of("a", 3, 3));
    serve_inbox(state, 1'000'001, nullptr);
    EXPECT_EQ(state.load("a").order.least, 3);
    EXPECT_FALSE(state.inbox().answer_to(good)->refused);
    EXPECT_THAT(mastic::test::names_in(state.path() / "inbox"), testing::ElementsAre("x.json.tmp-1-1"));
}

TEST(Inbox, TellsOfAShutdownOnce) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {});
    state.inbox().post(request_of(Request::Kind::shutdown));
    EXPECT_TRUE(serve_inbox(state, 1'000'001, nullptr));
    EXPECT_FALSE(serve_inbox(state, 1'000'002, nullptr));
}

TEST(Inbox, LogsWhatWasAsked) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    EventLog log(state.events_file());
    state.inbox().post(resize_of("a", 2, 3));
    state.inbox().post(request_of(Request::Kind::stop, "b"));
    serve_inbox(state, 1'000'001, &log);
    const EventHistory history = read_events(state.events_file());
    ASSERT_EQ(history.events.size(), 2u);
    EXPECT_EQ(history.events[0].text, "resize a to 2..3 nodes");
    EXPECT_THAT(history.events[1].text, HasSubstr("stop b: refused, unknown training 'b'"));
}

TEST(Inbox, ForgetsOldAnswers) {
    const TempDir dir;
    const StateDirectory state = state_with(dir, {"a"});
    const std::string id = state.inbox().post(resize_of("a", 2, 3));
    serve_inbox(state, 1'000'001, nullptr);
    EXPECT_TRUE(state.inbox().answer_to(id));
    serve_inbox(state, 1'000'000 + 7200, nullptr);
    EXPECT_FALSE(state.inbox().answer_to(id));
}

TEST(Inbox, KeepsARequestThatAFullDiskPrevents) {
    const mastic::test::TmpfsMount disk(parse_bytes("256K"));
    if (!disk.mounted()) {
        GTEST_SKIP() << disk.reason();
    }
    const StateDirectory state = StateDirectory::create_or_open(disk / "state");
    state.publish({test::order_named("a")});
    state.inbox().post(resize_of("a", 2, 3));
    const std::string filler(free_space(disk.path()).count, 'x');
    mastic::test::write_file(disk / "filler", filler);
    EXPECT_THROW(serve_inbox(state, 1'000'001, nullptr), Error);
    std::filesystem::remove(disk / "filler");
    serve_inbox(state, 1'000'002, nullptr);
    EXPECT_EQ(state.load("a").order.least, 2);
}

}  // namespace
}  // namespace mastic::schedule
