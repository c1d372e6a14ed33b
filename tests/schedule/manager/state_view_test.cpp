#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <mastic/schedule/manager/state_view.hpp>

#include "schedule/manager/orders.hpp"

namespace mastic::schedule {
namespace {

using testing::HasSubstr;
using testing::Not;

Training running_training() {
    Training training{"fashion", test::order_named("fashion"), {}, ""};
    TrainingRecord& record = training.record;
    record.state = TrainingState::running;
    record.since_s = 1000;
    record.target_reason = "2 more nodes add 800 samples/s";
    record.pilots = {
        {"17", "n3", "computing", 1000}, {"18", "n4", "starting", 1100}, {"19", "", "pending", 1110}};
    record.samples = 45'000;
    record.planned_samples = 100'000;
    record.samples_per_s = 500;
    return training;
}

StateView view_with(std::vector<Training> trainings) {
    StateView view;
    view.path = "/home/ana/state";
    view.id = "0a1b2c3d";
    view.trainings = std::move(trainings);
    view.now_s = 1120;
    return view;
}

TEST(Status, SaysWhatRunsWhereAndWhy) {
    const std::string text = status_text(view_with({running_training()}));
    EXPECT_THAT(text, HasSubstr("fashion   running  3 of 1..8  n[3-4] + 1 pending  2 min 00 s        500  "
                                "####...... 45.0 %  1 min 50 s  2 more nodes add 800 samples/s"));
    EXPECT_THAT(text, HasSubstr("2 filled"));
}

TEST(Status, SaysWhetherAManagerLives) {
    StateView view = view_with({});
    EXPECT_THAT(status_text(view),
                HasSubstr("manager  none: nothing is started or stopped until `mastic-rescale serve "
                          "/home/ana/state`"));
    EXPECT_THAT(status_text(view), HasSubstr("no training: `mastic-rescale submit /home/ana/state my.toml`"));
    view.manager = job::Owner{"n1", 4, "77", "2026-11-30T05:00:00+0000"};
    RoundRecord round;
    round.time_s = 1110;
    round.next_s = 1125;
    round.idle = 2;
    round.nodes = 60;
    round.waits_for = {"3 pilots are pending"};
    round.problem = "squeue failed: controller is away";
    round.used.node_seconds = 7200;
    view.round = round;
    const std::string text = status_text(view);
    EXPECT_THAT(text, HasSubstr("job 77 (pid 4 on node n1 since 2026-11-30T05:00:00+0000), last round 10 s "
                                "ago, next in 5 s"));
    EXPECT_THAT(text, HasSubstr("0 filled, 2 idle, 60 in all"));
    EXPECT_THAT(text, HasSubstr("2.0 node-hours"));
    EXPECT_THAT(text, HasSubstr("waits for  3 pilots are pending"));
    EXPECT_THAT(text, HasSubstr("PROBLEM    squeue failed: controller is away"));
    view.round->spare = 1;
    EXPECT_THAT(status_text(view), HasSubstr("0 filled, 2 idle (1 left to others), 60 in all"));
    view.now_s = 2000;
    EXPECT_THAT(status_text(view), HasSubstr("LATE by 14 min 35 s"));
}

TEST(Status, ShowsDrainedNodesAndRequests) {
    StateView view = view_with({});
    view.drained.nodes = {"n1", "n2", "n7"};
    Request request;
    request.kind = Request::Kind::stop;
    request.training = "fashion";
    view.requests = {{"1", request, ""}};
    EXPECT_THAT(status_text(view), HasSubstr("3 drained: n[1-2,7]"));
    EXPECT_THAT(status_text(view), HasSubstr("stop fashion"));
}

TEST(Status, TrainingsThatHaveEndedComeLastAndNotAll) {
    std::vector<Training> trainings;
    for (int i = 0; i < 15; ++i) {
        Training ended = running_training();
        ended.id = "ended-" + std::to_string(i);
        ended.record.state = TrainingState::done;
        ended.record.since_s = i;
        ended.record.pilots.clear();
        trainings.push_back(ended);
    }
    trainings.push_back(running_training());
    const std::string text = status_text(view_with(trainings));
    EXPECT_LT(text.find("fashion"), text.find("ended-14"));
    EXPECT_LT(text.find("ended-14"), text.find("ended-13"));
    EXPECT_THAT(text, Not(HasSubstr("ended-4 ")));
    EXPECT_THAT(text, HasSubstr("5 more have ended"));
}

TEST(Status, ADamagedTrainingIsShown) {
    Training damaged = running_training();
    damaged.problem = "record.json is damaged";
    EXPECT_THAT(status_text(view_with({damaged})), HasSubstr("record.json is damaged"));
}

TEST(Status, OfOneTrainingHasItsPilotsAndOrder) {
    Training training = running_training();
    training.order.arguments = {"--train.epochs", "6"};
    const std::string text = training_text(view_with({training}), training);
    EXPECT_THAT(text, HasSubstr("17  n3    computing  2 min 00 s"));
    EXPECT_THAT(text, HasSubstr("19  -     pending"));
    EXPECT_THAT(text, HasSubstr("--train.epochs 6"));
    EXPECT_THAT(text, HasSubstr("mastic-train status /home/ana/runs/fashion"));
}

TEST(Status, JsonHasTheSame) {
    const auto json = nlohmann::json::parse(status_json(view_with({running_training()})));
    EXPECT_EQ(json.at("format"), 1);
    EXPECT_TRUE(json.at("manager").is_null());
    EXPECT_TRUE(json.at("round").is_null());
    const auto& training = json.at("trainings").at(0);
    EXPECT_EQ(training.at("state"), "running");
    EXPECT_EQ(training.at("pilots").size(), 3u);
    EXPECT_EQ(training.at("left_s"), 110.0);
    EXPECT_EQ(training.at("why"), "2 more nodes add 800 samples/s");
}

}  // namespace
}  // namespace mastic::schedule
