// mastic-rescale serve on a real Slurm: malleable trainings in the gaps between other people's jobs.
// MASTIC_MANAGER_KILLS=20 kills the manager more often.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

#include "cluster/rescale_manager.hpp"

namespace mastic::test {
namespace {

using schedule::Event;
using schedule::EventKind;
using schedule::TrainingState;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int batch = 16;
constexpr int steps = 300;
constexpr int long_enough = 30'000;  // microseconds a sample: four nodes are busy for more than a minute

ClusterEnvironment* const environment = ClusterEnvironment::add(
    {.nodes = 4, .cancel_grace_s = 30, .settings = {"KillWait=20", "SlurmdTimeout=3", "MessageTimeout=2"}});

class Rescale : public testing::Test {
  protected:
    void TearDown() override { cluster.clear(); }

    std::string submit(const std::string& name, int sample_us = 12'000) {
        return manager.submit(dir / name, steps, sample_us);
    }
    // A job of somebody else.
    std::string rigid(int nodes, int seconds) const {
        return cluster.submit("#!/bin/sh\nsleep " + std::to_string(seconds) + "\n",
                              {"-p", "normal", "-N" + std::to_string(nodes), "--exclusive", "-t5"});
    }

    void expect_done(const std::string& training) const {
        EXPECT_EQ(manager.record(training).state, TrainingState::done) << manager.record(training).reason;
        EXPECT_EQ(record_of(dir / training).attempt.exit_code, 0);
        expect_every_step_once(dir / training, steps, batch);
    }
    void expect_nothing_left() const {
        EXPECT_TRUE(wait_until(
            [&] {
                return cluster.output_of({"squeue", "--noheader"}).empty();
            },
            Seconds(60)))
            << cluster.output_of({"squeue"});
    }
    std::string jobs_on(const std::string& node) const {
        return cluster.output_of({"squeue", "--noheader", "--states=R", "--format=%i", "-w", node});
    }

    SlurmCluster& cluster = environment->cluster();
    TempDir dir;
    RescaleManager manager{cluster, dir / "state"};
};

TEST_F(Rescale, TwoTrainingsFillTheGapsOfAJobMix) {
    submit("a");
    submit("b");
    manager.start({"--serve.until_done"});
    std::mt19937 random(7);
    std::vector<std::string> jobs;
    for (int i = 0; i < 6; ++i) {
        jobs.push_back(rigid(1 + static_cast<int>(random() % 3), 2 + static_cast<int>(random() % 6)));
        std::this_thread::sleep_for(std::chrono::seconds(4));
    }
    for (const std::string& job : jobs) {
        EXPECT_EQ(cluster.wait_end(job, Seconds(120)), "COMPLETED") << job;
    }
    EXPECT_EQ(manager.wait(Seconds(400)), 0) << manager.log();
    expect_done("a");
    expect_done("b");
    expect_nothing_left();
    for (const Event& decision : manager.events(EventKind::decision)) {
        EXPECT_NE(decision.text, "") << decision.training;
    }
}

// More trials than nodes.
TEST_F(Rescale, OfASweepTheBestIsTrainedToItsEnd) {
    std::vector<schedule::TrainingOrder> trials;
    for (const char* rate : {"1e-7", "1e-6", "1e-5", "0.05", "1e-4", "1e-3"}) {
        schedule::TrainingOrder trial = manager.order(dir / ("rate-" + std::to_string(trials.size() + 1)), steps, 2'000);
        trial.arguments.insert(trial.arguments.end(), {"--optimizer.learning_rate", rate});
        trial.sweep = "rates";
        trial.keep_best = 1;
        trial.most = 2;
        trials.push_back(trial);
    }
    const std::vector<std::string> ids = manager.state().publish(trials);
    manager.start({"--serve.until_done"});
    EXPECT_EQ(manager.wait(Seconds(400)), 0) << manager.log();
    for (const std::string& id : ids) {
        const schedule::TrainingRecord record = manager.record(id);
        EXPECT_EQ(record.state, id == "rate-4" ? TrainingState::done : TrainingState::stopped) << id << ": " << record.reason;
        EXPECT_TRUE(id == "rate-4" || record.reason.starts_with("place ")) << id << ": " << record.reason;
    }
    expect_done("rate-4");
    EXPECT_LT(manager.events(EventKind::pilot_submitted).size(), 40u) << "none is sent away as soon as it has come";
    expect_nothing_left();
}

int manager_kills() {
    const char* const wanted = std::getenv("MASTIC_MANAGER_KILLS");
    return wanted == nullptr ? 5 : std::atoi(wanted);
}

TEST_F(Rescale, ManagersThatAreKilledLoseNothing) {
    const int kills = manager_kills();
    const int slow = long_enough * std::max(1, kills / 5);
    submit("a", slow);
    submit("b", slow);
    std::mt19937 random(11);
    for (int death = 0; death < kills; ++death) {
        manager.start();
        std::this_thread::sleep_for(std::chrono::milliseconds(500 + random() % 4000));
        manager.kill();
        for (int node = 1; node <= 4; ++node) {
            EXPECT_LE(std::ranges::count(jobs_on("n" + std::to_string(node)), '\n'), 1)
                << "two pilots on a node";
        }
    }
    manager.start();
    EXPECT_TRUE(manager.wait_for_pilots(1, "computing")) << manager.log();
    EXPECT_EQ(manager.stop(), 75);
    EXPECT_FALSE(cluster.output_of({"squeue", "--noheader"}).empty()) << "pilots go on without a manager";
    manager.start({"--serve.until_done"});
    EXPECT_EQ(manager.wait(Seconds(400)), 0) << manager.log();
    expect_done("a");
    expect_done("b");
    expect_nothing_left();
    EXPECT_EQ(manager.events(EventKind::training_ended).size(), 2u);
}

TEST_F(Rescale, PilotsMakeRoomForARigidJobAndComeAgain) {
    submit("a", long_enough);
    manager.start({"--serve.until_done"});
    ASSERT_TRUE(manager.wait_for_pilots(4, "computing")) << manager.log();
    const CommandResult urgent = cluster.run({"srun", "-p", "normal", "-N4", "--exclusive", "true"});
    EXPECT_EQ(urgent.exit_code, 0) << urgent.error;
    EXPECT_EQ(manager.wait(Seconds(300)), 0) << manager.log();
    int left = 0;
    for (const Event& end : manager.events(EventKind::pilot_ended)) {
        left += end.text == "code 75" ? 1 : 0;
    }
    EXPECT_EQ(left, 4) << "each left at a step boundary, with the whole state";
    expect_done("a");
}

TEST_F(Rescale, ANodeWithoutPowerCostsOnlyItsPilot) {
    submit("a", long_enough);
    manager.start({"--serve.until_done"});
    ASSERT_TRUE(manager.wait_for_pilots(4, "computing")) << manager.log();
    const std::string dead = manager.record("a").pilots.back().node;
    cluster.node_down(dead);
    EXPECT_EQ(manager.wait(Seconds(400)), 0) << manager.log();
    expect_done("a");
    EXPECT_THAT(cluster.output_of({"squeue", "--noheader"}), IsEmpty());
}

TEST_F(Rescale, TheManagerIsAJobItself) {
    submit("a", 4'000);
    Arguments call = manager.command({"--serve.until_done", "--submit", "--slurm.time", "10m"});
    call.insert(call.begin(), {"env", "-C", dir.path().string()});  // the job's log is written there
    const std::string said = cluster.output_of(call);
    ASSERT_THAT(said, HasSubstr("submitted job "));
    const std::string job = said.substr(14, said.find(' ', 14) - 14);
    ASSERT_TRUE(wait_until([&] { return manager.lives(); }, Seconds(60))) << said;
    const CommandResult second = cluster.run(call);
    EXPECT_EQ(second.exit_code, 5);
    EXPECT_THAT(second.error, HasSubstr("has a manager already: job " + job));
    EXPECT_EQ(cluster.wait_end(job, Seconds(300)), "COMPLETED") << said;
    expect_done("a");
    expect_nothing_left();
}

}  // namespace
}  // namespace mastic::test
