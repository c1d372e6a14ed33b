// The whole manager against a Slurm that answers as the recorded one does.
#include <mastic/schedule/manager/manager.hpp>

#include <fstream>

#include <gmock/gmock.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/report/run_record.hpp>
#include <mastic/schedule/manager/inbox.hpp>

#include "schedule/manager/fake_slurm.hpp"
#include "support/captured_log.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::schedule {
namespace {

using test::FakeSlurm;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr double begin_s = 1'796'009'829;

class AManager : public testing::Test {
  protected:
    void SetUp() override { start(); }

    void start() {
        ManagerParts parts;
        parts.run = slurm.runner();
        parts.now_s = [this] { return now_s; };
        parts.clocks = {
            [this] {
                return std::chrono::steady_clock::time_point(
                    std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds(now_s)));
            },
            [this] { return TimePoint(std::chrono::duration_cast<TimePoint::duration>(Seconds(now_s))); }};
        parts.user = "me";
        parts.must_end = [this] { return slurm.count("sbatch") >= most_submissions; };
        manager.reset();
        manager = std::make_unique<Manager>(state, options, parts);
    }

    std::string submit(const std::string& name, int least = 1, int most = 4) {
        return submit(name, least, most, TrainingOrder());
    }
    // Further orders are `order`'s.
    std::string submit(const std::string& name, int least, int most, TrainingOrder order) {
        order.name = name;
        order.config = (directory / "t.toml").string();
        order.directory = directory.path().string();
        order.run_directory = (directory / name).string();
        order.least = least;
        order.most = most;
        order.submitted_s = now_s;
        return state.publish({order}).front();
    }

    void rounds(int count) {
        for (int i = 0; i < count; ++i) {
            now_s += options.polling.interval.count();
            manager->round();
        }
    }

    // So many ranks have trained until now, 100 samples a second each.
    void train(const std::string& name, int ranks, double seconds) {
        std::filesystem::create_directories(directory / name);
        std::ofstream file(directory / name / "metrics.jsonl", std::ios::app);
        for (double s = 0; s < seconds; s += 5) {
            report::StepRecord record;
            samples[name] += 500 * ranks;
            record.samples = samples[name];
            record.time_s = now_s - begin_s - seconds + s;
            record.world_size = ranks;
            file << to_json_line(record) << "\n";
        }
    }

    void finish_run(const std::string& name) {
        report::RunRecord record;
        record.samples = samples[name];
        finish(record, ExitCode::done, "finished",
               report::Time(std::chrono::seconds(static_cast<long>(now_s))));
        std::filesystem::create_directories(directory / name);
        write_run_record(directory / name / "run.json", record);
    }

    TrainingRecord record_of(const std::string& id) const { return state.load(id).record; }
    std::vector<EventKind> events() const {
        std::vector<EventKind> kinds;
        for (const Event& event : read_events(state.events_file()).events) {
            kinds.push_back(event.kind);
        }
        return kinds;
    }
    // Of the newest event of that kind.
    std::string text_of(EventKind kind) const {
        std::string text;
        for (const Event& event : read_events(state.events_file()).events) {
            text = event.kind == kind ? event.text : text;
        }
        return text;
    }
    int count(EventKind kind) const {
        const std::vector<EventKind> kinds = events();
        return static_cast<int>(std::ranges::count(kinds, kind));
    }

    test::TempDir directory;
    StateDirectory state = StateDirectory::create_or_open(directory / "state");
    FakeSlurm slurm{4, state.pilots()};
    double now_s = begin_s;
    ManagerOptions options;
    int most_submissions = 1'000'000;  // then it is told to end
    std::map<std::string, std::int64_t> samples;
    std::unique_ptr<Manager> manager;
};

TEST_F(AManager, SubmitsNothingMoreWhenItIsToldToEnd) {
    most_submissions = 2;
    submit("a");
    manager->round();
    EXPECT_EQ(slurm.count("sbatch"), 2);
    EXPECT_THAT(record_of("a").pilots, SizeIs(2)) << "what it did is written down";
}

TEST_F(AManager, WithdrawsAPilotThatWaitsForTheNodeOfAnother) {
    submit("a");
    rounds(2);
    const FakeSlurm::Job running = slurm.jobs.at(slurm.jobs_of("a").front());
    slurm.jobs["999"] = {running.name, running.node, false, running.limit};  // the last manager died before sbatch answered
    rounds(1);
    EXPECT_THAT(slurm.jobs_of("a"), testing::Not(Contains("999")));
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n1", "n2", "n3", "n4"));
    EXPECT_THAT(text_of(EventKind::pilot_leaving), HasSubstr("another pilot has its node"));
}

// Slurm chose their nodes before these pilots came, and would find them taken.
TEST_F(AManager, KeepsOutOfTheWayOfJobsThatAreAboutToStart) {
    submit("a");
    slurm.waiting["801"] = 3;
    rounds(1);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(1)) << "three nodes are for the other";
    slurm.waiting.clear();
    rounds(1);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(4));
    slurm.waiting["802"] = 2;
    rounds(1);  // shows three of them running for the first time
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(2));
    EXPECT_THAT(text_of(EventKind::pilot_leaving), HasSubstr("others are about to start"));
    rounds(4);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(2)) << "what runs for longer is for Slurm to take";
    rounds(5);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(4)) << "it does not start, whatever it waits for";
    rounds(25);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(4));
    slurm.end(slurm.jobs_of("a").front(), 75);  // preempted
    rounds(1);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(3)) << "it may be the one that Slurm makes room for";
}

TEST_F(AManager, LeavesSpareNodesToOthers) {
    options.spare = 1;
    start();
    submit("a");
    rounds(3);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(3));
    EXPECT_EQ(state.round()->spare, 1);
    EXPECT_THAT(state.round()->waits_for, Contains("limited by serve.spare: 1 node stays idle for others"));
    options.spare = 5;
    start();
    rounds(10);
    EXPECT_THAT(slurm.jobs_of("a"), IsEmpty()) << "of four nodes";
}

TEST_F(AManager, GivesBackSpareNodesThatOthersUse) {
    options.spare = 1;
    start();
    submit("a");
    rounds(2);
    const std::vector<std::string> used = slurm.nodes_of("a");
    ASSERT_THAT(used, SizeIs(3));
    std::string spare = "n1";
    while (std::ranges::find(used, spare) != used.end()) {
        ++spare.back();
    }
    slurm.take(spare);
    rounds(3);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(3)) << "it may be for a moment";
    rounds(2);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(2));
    EXPECT_THAT(text_of(EventKind::pilot_leaving), HasSubstr("serve.spare"));
    rounds(10);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(2)) << "one is enough";
    slurm.give_back(spare);
    rounds(3);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(2)) << "the next job of others may come soon";
    rounds(30);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(3));
}

// Slurm keeps two nodes for a job that does not start.
TEST_F(AManager, PilotsThatWaitForNodesThatSlurmKeepsDoNotHoldUpOthers) {
    options.burst = 2;
    start();
    for (const char* node : {"n1", "n2"}) {
        slurm.set_state(node, "planned");
    }
    slurm.take("n3");
    slurm.take("n4");
    submit("a");
    rounds(1);
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n1", "n2"));
    slurm.give_back("n3");
    rounds(7);
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n3"));
    rounds(15);
    EXPECT_EQ(slurm.count("sbatch"), 3);
    rounds(10);
    EXPECT_THAT(slurm.nodes_of("a"), SizeIs(3)) << "whether they may start now is tried again";
}

// What a training gives to another one is no spare node before it is idle.
TEST_F(AManager, StartsNoPilotOnSpareNodesWhileOthersLeave) {
    options.spare = 1;
    options.policy_name = "equal";
    start();
    submit("a");
    rounds(2);
    ASSERT_THAT(slurm.jobs_of("a"), SizeIs(3));
    slurm.lingers = true;
    submit("b");
    rounds(3);
    EXPECT_GE(count(EventKind::pilot_leaving), 1);
    EXPECT_THAT(slurm.jobs, SizeIs(3)) << "the fourth node stays idle";
    rounds(10);
    EXPECT_THAT(slurm.jobs, SizeIs(3));
    EXPECT_THAT(slurm.jobs_of("b"), testing::Not(IsEmpty())) << "those that did not obey were cancelled";
}

TEST_F(AManager, NodesThatStayFreeForJobsThatAreAboutToStartAreSpare) {
    options.spare = 2;
    start();
    submit("a");
    slurm.waiting["801"] = 3;
    rounds(1);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(1));
}

TEST_F(AManager, EndsPilotsOfATrainingThatHangs) {
    submit("a", 1, 2);
    rounds(2);
    train("a", 2, 10);
    rounds(59);
    EXPECT_EQ(count(EventKind::pilot_leaving), 0);
    rounds(4);
    EXPECT_EQ(count(EventKind::pilot_leaving), 2);
    EXPECT_THAT(text_of(EventKind::pilot_leaving), HasSubstr("no step in 10 min"));
    EXPECT_EQ(record_of("a").failures, 1);
    rounds(150);
    EXPECT_EQ(record_of("a").state, TrainingState::failed);
    EXPECT_THAT(record_of("a").reason, HasSubstr("3 pilots in a row"));
    EXPECT_THAT(record_of("a").reason, HasSubstr("no step in 10 min 00 s; its log is "));
    rounds(3);
    EXPECT_TRUE(manager->all_ended());
}

TEST_F(AManager, WhoWritesNowAndThenDoesNotHang) {
    submit("a", 1, 2);
    rounds(2);
    for (int i = 0; i < 10; ++i) {
        rounds(50);
        train("a", 2, 5);
    }
    rounds(1);
    EXPECT_EQ(count(EventKind::pilot_leaving), 0);
    options.silence = Seconds(0);
    start();
    rounds(400);
    EXPECT_EQ(count(EventKind::pilot_leaving), 0) << "not if it is not to be looked for";
}

TEST_F(AManager, SilenceAddsUpOverPilotsAndManagers) {
    submit("a", 1, 1);
    rounds(1);
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(record_of("a").failures, 0) << i;
        rounds(20);
        slurm.end(slurm.jobs_of("a").at(0), 75);  // preempted
        start();
        for (int wait = 0; wait < 20 && slurm.jobs_of("a").empty(); ++wait) {
            rounds(1);
        }
    }
    EXPECT_EQ(record_of("a").failures, 1);
    EXPECT_THAT(text_of(EventKind::pilot_leaving), HasSubstr("no step in 10 min"));
}

TEST_F(AManager, WhatItCannotSeeIsNoSilence) {
    submit("a", 1, 1);
    rounds(2);
    train("a", 1, 5);
    rounds(30);
    slurm.silent = true;
    rounds(120);
    slurm.silent = false;
    rounds(10);
    std::filesystem::rename(directory / "a", directory / "away");
    rounds(120);
    std::filesystem::rename(directory / "away", directory / "a");
    for (int outage = 0; outage < 12; ++outage) {
        std::filesystem::rename(state.path(), directory / "state-away");
        rounds(9);
        std::filesystem::rename(directory / "state-away", state.path());
        rounds(1);
    }
    rounds(1);
    now_s += 7200;  // it hung itself, in a file system that did not answer
    rounds(3);
    EXPECT_EQ(count(EventKind::pilot_leaving), 0);
    EXPECT_GT(record_of("a").silent_s, 300);
    EXPECT_LT(record_of("a").silent_s, 580);
    rounds(30);
    EXPECT_EQ(record_of("a").failures, 1);
}

TEST_F(AManager, ATrialThatHangsDoesNotHoldUpItsSweep) {
    TrainingOrder trial;
    trial.sweep = "rates";
    trial.keep_best = 1;
    trial.total_samples = 4000;
    for (const char* node : {"n3", "n4"}) {
        slurm.take(node);
    }
    submit("rates-1", 1, 1, trial);
    submit("rates-2", 1, 1, trial);
    rounds(2);
    now_s += 25;
    train("rates-1", 1, 25);
    rounds(3);
    EXPECT_THAT(record_of("rates-1").target_reason, HasSubstr("waits for the other trials"));
    rounds(240);
    EXPECT_EQ(record_of("rates-2").state, TrainingState::failed);
    EXPECT_THAT(slurm.jobs_of("rates-1"), SizeIs(1)) << record_of("rates-1").target_reason;
}

TEST_F(AManager, ChargesNoMoreThanTheirLimitAfterDaysWithoutAManager) {
    slurm.starts = false;
    submit("a", 1, 2);
    rounds(1);
    now_s += 5 * 86'400;
    slurm.jobs.clear();
    slurm.starts = true;
    start();
    rounds(1);
    EXPECT_LE(state.round()->used.node_seconds, 2 * (options.pilot.longest + options.pilot.grace).count());
}

TEST_F(AManager, ChargesWhatPilotsUse) {
    submit("a", 1, 2);
    rounds(1);
    const double begin = now_s;
    rounds(10);
    EXPECT_NEAR(state.round()->used.node_seconds, 2 * (now_s - begin), 1);
    EXPECT_NEAR(record_of("a").node_seconds, 2 * (now_s - begin), 1);
    start();  // one that takes over
    rounds(10);
    EXPECT_NEAR(state.round()->used.node_seconds, 2 * (now_s - begin), 1);
    slurm.silent = true;
    rounds(5);
    slurm.silent = false;
    for (const std::string& job : slurm.jobs_of("a")) {
        slurm.end(job, 0);
    }
    slurm.starts = false;
    rounds(20);
    const double used = state.round()->used.node_seconds;
    EXPECT_GE(used, 2 * (25 * options.polling.interval.count())) << "also while Slurm gives no answer";
    rounds(5);
    EXPECT_EQ(state.round()->used.node_seconds, used) << "those that wait cost nothing";
}

TEST_F(AManager, FillsIdleNodes) {
    slurm.take("n4");
    submit("a");
    rounds(1);
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n1", "n2", "n3"));
    rounds(1);
    EXPECT_EQ(record_of("a").state, TrainingState::running);
    EXPECT_THAT(record_of("a").pilots, SizeIs(3));
    EXPECT_EQ(record_of("a").pilots[0].state, "starting");
    EXPECT_THAT(record_of("a").target_reason, HasSubstr("gains"));
    EXPECT_EQ(slurm.count("sbatch"), 3) << "once a pilot";
    slurm.give_back("n4");
    rounds(2);
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n1", "n2", "n3", "n4"));
    EXPECT_EQ(count(EventKind::pilot_submitted), 4);
    EXPECT_EQ(count(EventKind::pilot_started), 4);
}

TEST_F(AManager, TwoTrainingsShareWhatIsThere) {
    submit("a");
    submit("b");
    rounds(2);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(2));
    EXPECT_THAT(slurm.jobs_of("b"), SizeIs(2));
    train("a", 2, 40);
    train("b", 2, 40);
    rounds(1);
    EXPECT_EQ(record_of("a").world_size, 2);
    EXPECT_EQ(record_of("a").pilots[0].state, "computing");
    EXPECT_NEAR(record_of("a").samples_per_s, 200, 1);
    finish_run("a");
    for (const std::string& job : slurm.jobs_of("a")) {
        slurm.end(job, 0);
    }
    rounds(3);
    EXPECT_EQ(record_of("a").state, TrainingState::done);
    EXPECT_THAT(slurm.jobs_of("b"), SizeIs(4)) << "the other one gets its nodes";
    EXPECT_FALSE(manager->all_ended());
    EXPECT_EQ(count(EventKind::training_ended), 1);
}

TEST_F(AManager, ATrialThatWaitsForTheOthersOfItsSweepAsksForNothing) {
    TrainingOrder trial;
    trial.sweep = "rates";
    trial.keep_best = 1;
    trial.total_samples = 4000;  // the rung lies at half of it
    for (const char* node : {"n2", "n3", "n4"}) {
        slurm.take(node);
    }
    submit("rates-1", 1, 1, trial);
    submit("rates-2", 1, 1, trial);
    rounds(2);
    ASSERT_THAT(slurm.jobs_of("rates-1"), SizeIs(1));
    now_s += 25;
    train("rates-1", 1, 25);
    rounds(2);
    EXPECT_THAT(record_of("rates-1").target_reason, HasSubstr("waits for the other trials"));
    rounds(6);
    EXPECT_EQ(record_of("rates-1").target, 0);
    EXPECT_THAT(slurm.jobs_of("rates-1"), IsEmpty()) << "it does not ask again";
    EXPECT_THAT(slurm.jobs_of("rates-2"), SizeIs(1));
    EXPECT_EQ(slurm.count("sbatch"), 2);
}

TEST_F(AManager, AStoppedTrainingGivesItsNodesBack) {
    submit("a");
    rounds(2);
    state.inbox().post({.kind = Request::Kind::stop, .training = "a", .by = "ana"});
    rounds(2);
    EXPECT_EQ(record_of("a").state, TrainingState::stopped);
    EXPECT_EQ(record_of("a").reason, "stopped by ana");
    EXPECT_THAT(slurm.jobs, IsEmpty());
    EXPECT_TRUE(manager->all_ended());
    EXPECT_THAT(slurm.commands, Contains(testing::AllOf(Contains("scancel"), Contains("--signal=TERM"))));
    rounds(3);
    EXPECT_EQ(slurm.count("sbatch"), 4) << "nothing comes again";
}

TEST_F(AManager, DrainedNodesAreLeftAndNotAskedForAgain) {
    submit("a");
    rounds(2);
    state.inbox().post({.kind = Request::Kind::drain, .nodes = {"n2"}, .by = "ana"});
    rounds(3);
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n1", "n3", "n4"));
    state.inbox().post({.kind = Request::Kind::undrain, .nodes = {"n2"}, .by = "ana"});
    rounds(2);
    EXPECT_THAT(slurm.nodes_of("a"), SizeIs(4));
}

TEST_F(AManager, ATakenNodeCostsOnlyItsPilot) {
    submit("a");
    rounds(2);
    slurm.take("n2");
    rounds(2);
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n1", "n3", "n4"));
    EXPECT_EQ(count(EventKind::pilot_ended), 1);
    EXPECT_EQ(record_of("a").state, TrainingState::running);
    slurm.give_back("n2");
    rounds(4);
    EXPECT_THAT(slurm.nodes_of("a"), SizeIs(4));
}

TEST_F(AManager, ANodeThatItsOperatorDrainsIsLeft) {
    submit("a");
    rounds(2);
    slurm.set_state("n3", "draining");
    rounds(2);
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n1", "n2", "n4"));
}

TEST_F(AManager, TheNextOneFindsAllPilotsAndSubmitsNoneTwice) {
    submit("a");
    rounds(2);
    for (int death = 0; death < 5; ++death) {
        start();
        rounds(2);
        EXPECT_THAT(slurm.nodes_of("a"), ElementsAre("n1", "n2", "n3", "n4"));
    }
    EXPECT_EQ(slurm.count("sbatch"), 4);
    EXPECT_EQ(count(EventKind::pilot_started), 4);
    EXPECT_EQ(count(EventKind::training_submitted), 1);
}

TEST_F(AManager, ThatDiesAfterSbatchLosesNoPilot) {
    const std::string id = submit("a");
    const TrainingRecord before = record_of(id);
    rounds(1);
    state.write_record(id, before);  // it died before it could write that down
    start();
    rounds(2);
    EXPECT_THAT(record_of(id).pilots, SizeIs(4));
    EXPECT_EQ(slurm.count("sbatch"), 4);
}

TEST_F(AManager, APilotWhoseSubmissionGotNoAnswerIsNotSubmittedTwice) {
    submit("a", 1, 1);
    slurm.loses_answers = true;
    rounds(1);
    EXPECT_THAT(slurm.jobs, SizeIs(1));
    EXPECT_THAT(manager->problem(), HasSubstr("no answer"));
    slurm.loses_answers = false;
    rounds(5);
    EXPECT_THAT(slurm.jobs, SizeIs(1));
    EXPECT_THAT(record_of("a").pilots, SizeIs(1));
}

TEST_F(AManager, DecidesNothingWhileSlurmIsSilent) {
    submit("a");
    rounds(2);
    const std::size_t before = events().size();
    slurm.silent = true;
    rounds(60);
    EXPECT_LT(slurm.count("squeue"), 30) << "it asks less often";
    EXPECT_THAT(manager->problem(), HasSubstr("Unable to contact slurm controller"));
    EXPECT_LE(events().size(), before + 1) << "the problem, once";
    EXPECT_THAT(record_of("a").pilots, SizeIs(4));
    EXPECT_THAT(state.round()->problem, HasSubstr("Unable to contact"));
    slurm.silent = false;
    rounds(10);
    EXPECT_EQ(manager->problem(), "");
    EXPECT_EQ(slurm.count("sbatch"), 4);
}

TEST_F(AManager, ARefusalOfSbatchIsToldOnceAndAskedAgainSeldom) {
    slurm.refusal = "Batch job submission failed: User's group not permitted to use this partition";
    submit("a");
    rounds(360);  // an hour
    EXPECT_LT(slurm.count("sbatch"), 15);
    EXPECT_THAT(manager->problem(), HasSubstr("not permitted"));
    EXPECT_EQ(count(EventKind::problem), 1);
    slurm.refusal.clear();
    rounds(70);
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(4));
    EXPECT_EQ(manager->problem(), "");
}

TEST_F(AManager, GivesUpATrainingWhosePilotsFailAtOnce) {
    submit("a");
    for (int round = 0; round < 60; ++round) {
        rounds(1);
        for (const std::string& job : slurm.jobs_of("a")) {
            slurm.end(job, 3);
        }
    }
    EXPECT_EQ(record_of("a").state, TrainingState::failed);
    EXPECT_THAT(record_of("a").reason, HasSubstr("code 3"));
    EXPECT_THAT(record_of("a").reason, HasSubstr(".log"));
    EXPECT_LE(slurm.count("sbatch"), 3 * 4);
    EXPECT_TRUE(manager->all_ended());
}

TEST_F(AManager, SubmitsNoMorePilotsAtATimeThanItMay) {
    options.burst = 1;
    start();
    slurm.starts = false;
    submit("a");
    rounds(5);
    EXPECT_THAT(slurm.jobs, SizeIs(1)) << "one that waits is enough";
    slurm.starts = true;
    rounds(6);
    EXPECT_THAT(slurm.jobs, SizeIs(4));
}

TEST_F(AManager, APilotThatDoesNotStartIsWithdrawn) {
    slurm.starts = false;
    submit("a", 1, 1);
    rounds(1);
    const std::string first = slurm.jobs_of("a").at(0);
    rounds(20);
    EXPECT_THAT(slurm.jobs_of("a"), testing::Not(Contains(first)));
    EXPECT_LT(slurm.count("sbatch"), 4);
}

TEST_F(AManager, ObeysItsBudget) {
    options.budget.most_pilots = 3;
    start();
    submit("a");
    rounds(3);
    EXPECT_THAT(slurm.jobs, SizeIs(3));
    options.budget.node_hours = 0.5;
    start();
    rounds(120);
    EXPECT_THAT(slurm.jobs, IsEmpty());
    EXPECT_LE(state.round()->used.node_seconds, 0.5 * 3600);
    EXPECT_GE(state.round()->used.node_seconds, 0.2 * 3600);
    EXPECT_THAT(text_of(EventKind::pilot_leaving), HasSubstr("node-hours are used"));
}

TEST_F(AManager, WithoutPreemptionItLeavesNodesBeforeTheyAreTaken) {
    options.give_way = true;
    start();
    submit("a", 1, 1);
    rounds(2);
    EXPECT_THAT(slurm.jobs, SizeIs(1));
    rounds(30);
    EXPECT_THAT(slurm.jobs, SizeIs(1)) << "nobody plans to take it";
    const std::string node = slurm.nodes_of("a").front();
    slurm.planned[node] = now_s + 65;
    rounds(2);
    EXPECT_THAT(slurm.nodes_of("a"), ElementsAre(node)) << "it may stay a little";
    rounds(3);
    EXPECT_THAT(slurm.nodes_of("a"), testing::Not(Contains(node)));
    EXPECT_THAT(text_of(EventKind::pilot_leaving), HasSubstr("others are about to get its node"));
    rounds(2);
    EXPECT_THAT(slurm.nodes_of("a"), SizeIs(1)) << "it goes on elsewhere";
}

TEST_F(AManager, NeverThrowsForAStateThatCannotBeWritten) {
    submit("a");
    rounds(2);
    std::filesystem::remove_all(state.path() / "trainings" / "a");
    std::filesystem::remove_all(state.pilots());
    test::write_file(state.pilots(), "a file where a directory was");
    submit("b");
    EXPECT_NO_THROW(rounds(3));
    EXPECT_NE(manager->problem(), "");
}

TEST_F(AManager, GoesOnWhenItsStateDirectoryIsBack) {
    submit("a", 1, 3);
    rounds(2);
    const std::map<std::string, FakeSlurm::Job> before = slurm.jobs;
    const int asked = slurm.count("sbatch") + slurm.count("scancel");
    test::CapturedLog log;
    std::filesystem::rename(state.path(), directory / "away");
    rounds(30);
    EXPECT_EQ(slurm.count("sbatch") + slurm.count("scancel"), asked);
    EXPECT_THAT(manager->problem(), HasSubstr("is away: "));
    slurm.end(slurm.jobs_of("a").at(0), 3);  // what becomes of pilots meanwhile is seen later
    std::filesystem::rename(directory / "away", state.path());
    test::write_file(state.pilots() / ("a-" + before.begin()->first + ".code"), "3\n");
    submit("b", 1, 1);
    rounds(2);
    EXPECT_EQ(manager->problem(), "");
    EXPECT_EQ(record_of("a").failures, 1);
    EXPECT_THAT(slurm.jobs_of("b"), SizeIs(1));
    EXPECT_THAT(text_of(EventKind::problem), HasSubstr("was away for 5 min"));
    const std::string said = log.text();
    EXPECT_EQ(said.find("is away"), said.rfind("is away")) << "once: " << said;
    EXPECT_THAT(said, HasSubstr("and is back"));
}

// As a file server that was away for less than a round may leave it.
TEST_F(AManager, OpensItsLogOfEventsAnewWhenItIsAnotherFile) {
    submit("a", 1, 1);
    rounds(2);
    const std::string events_before = read_text_file(state.events_file());
    std::filesystem::remove(state.events_file());
    test::write_file(state.events_file(), events_before);
    submit("b", 1, 1);
    rounds(3);
    EXPECT_EQ(manager->problem(), "");
    EXPECT_THAT(slurm.jobs_of("b"), SizeIs(1));
    EXPECT_EQ(count(EventKind::pilot_submitted), 2);
}

TEST_F(AManager, EndsWhenItsStateDirectoryIsAwayForAnHour) {
    submit("a");
    rounds(2);
    std::filesystem::rename(state.path(), directory / "away");
    EXPECT_NO_THROW(rounds(360));
    test::expect_error(ExitCode::io, "has been away for 1 h", [&] { rounds(2); });
    EXPECT_THAT(slurm.jobs_of("a"), SizeIs(4)) << "pilots go on";
}

// A sweep that is judged without one of its trials cannot be judged again.
TEST_F(AManager, DecidesNothingWhileATrainingCannotBeRead) {
    TrainingOrder trial;
    trial.sweep = "rates";
    trial.keep_best = 1;
    trial.total_samples = 4000;
    for (const char* name : {"rates-1", "rates-2", "rates-3"}) {
        submit(name, 1, 1, trial);
    }
    rounds(2);
    const auto file = state.path() / "trainings/rates-3/record.json";
    std::filesystem::rename(file, directory / "record.json");
    std::filesystem::create_directory(file);
    now_s += 25;
    train("rates-1", 1, 25);
    train("rates-2", 1, 25);
    rounds(4);
    EXPECT_THAT(manager->problem(), HasSubstr("rates-3/record.json"));
    std::filesystem::remove(file);
    std::filesystem::rename(directory / "record.json", file);
    rounds(2);
    EXPECT_EQ(manager->problem(), "");
    for (const char* name : {"rates-1", "rates-2", "rates-3"}) {
        EXPECT_FALSE(has_ended(record_of(name).state)) << name;
        EXPECT_NE(record_of(name).state, TrainingState::stopping) << name;
    }
}

TEST_F(AManager, WhatItOnlySaysIsNotDone) {
    submit("a");
    options.only_say = true;
    start();
    rounds(2);
    EXPECT_EQ(slurm.count("sbatch"), 0);
    EXPECT_THAT(events(), IsEmpty());
    EXPECT_FALSE(state.round());
}

TEST_F(AManager, ATrainingBelowItsLeastGetsNothing) {
    submit("a", 5, 8);
    rounds(3);
    EXPECT_THAT(slurm.jobs, IsEmpty());
    EXPECT_EQ(record_of("a").state, TrainingState::queued);
}

TEST_F(AManager, ForgetsNoCurveWhenItDies) {
    submit("a", 1, 2);
    rounds(2);
    train("a", 2, 60);
    rounds(1);
    EXPECT_GE(count(EventKind::progress), 2);
    const int before = count(EventKind::progress);
    start();
    rounds(1);
    EXPECT_LE(count(EventKind::progress), before + 2)
        << "the end of a file that was read is read again, no more";
}

}  // namespace
}  // namespace mastic::schedule
