#include <mastic/schedule/manager/pilot_fleet.hpp>

#include <gmock/gmock.h>

#include <mastic/core/file.hpp>
#include <mastic/schedule/slurm_poller.hpp>

#include "schedule/manager/fake_slurm.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::schedule {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(PilotName, TellsTheTrainingOfOneStateDirectoryOnly) {
    EXPECT_EQ(pilot_name("fashion-2", "3f9c"), "mastic-fashion-2@3f9c");
    EXPECT_EQ(training_of_pilot("mastic-fashion-2@3f9c", "3f9c"), "fashion-2");
    for (const char* other :
         {"mastic-fashion-2@3f9d", "mastic-fashion-2", "mastic-@3f9c", "@3f9c", "fashion@3f9c", ""}) {
        EXPECT_FALSE(training_of_pilot(other, "3f9c")) << other;
    }
}

Training some_training() {
    Training training;
    training.id = "fashion";
    training.order.config = "/home/me/my task.toml";
    training.order.run_directory = "/data/run";
    training.order.arguments = {"--model.name", "mlp"};
    training.order.directory = "/home/me";
    return training;
}

PilotOptions some_options() {
    PilotOptions options;
    options.partition = "cancel";
    options.account = "abc";
    options.qos = "low";
    options.nice = 100;
    options.options = {"--constraint=gpu"};
    return options;
}

class Fleet : public testing::Test {
  protected:
    FleetChange see(double now_s) { return fleet.update(ask_slurm(slurm.runner(), {}), now_s); }
    Pilot submit(const std::string& node, std::optional<Seconds> life = {}) {
        return fleet.submit(training, node, life, 100);
    }
    std::string script() const { return read_text_file(directory / "fashion.sbatch"); }

    test::TempDir directory;
    test::FakeSlurm slurm{3, directory.path()};
    Training training = some_training();
    PilotOptions options = some_options();
    PilotFleet fleet{options, {"3f9c", "me", directory.path(), "/opt/bin"}, slurm.runner()};
};

TEST_F(Fleet, SubmitsAJobForOneNode) {
    submit("n2", Seconds(1000));
    EXPECT_THAT(slurm.commands.back(),
                AllOf(Contains("--nodelist=n2"), Contains("--time=16"), Contains("--time-min=8"),
                      Contains("--qos=low"), Contains("--nice=100"), Contains("--parsable")));
    EXPECT_THAT(script(), AllOf(HasSubstr("--job-name=mastic-fashion@3f9c\n"),
                                HasSubstr("--partition=cancel\n"), HasSubstr("--account=abc\n"),
                                HasSubstr("--constraint=gpu\n"), HasSubstr("--chdir=/home/me\n"),
                                HasSubstr("--no-requeue\n"), HasSubstr("PATH=/opt/bin:")));
    EXPECT_THAT(script(),
                HasSubstr("run=('/home/me/my task.toml' --model.name mlp --elastic.join /data/run \"$@\")"));
    EXPECT_THAT(script(), Not(HasSubstr("settle")));
}

TEST_F(Fleet, NoJobIsLongerThanItsNodeLives) {
    submit("n1", Seconds(90));
    EXPECT_THAT(slurm.commands.back(), AllOf(Contains("--time=1"), Contains("--time-min=1")));
    submit("n2");
    EXPECT_THAT(slurm.commands.back(), Contains("--time=60"));
}

TEST_F(Fleet, FollowsItsPilotsFromViewToView) {
    slurm.take("n1");
    const std::string waiting = submit("n1").job;
    const std::string running = submit("n2").job;
    const FleetChange first = see(110);
    ASSERT_THAT(first.started, SizeIs(1));
    EXPECT_EQ(first.started[0].job, running);
    EXPECT_EQ(first.started[0].since_s, 110);
    EXPECT_EQ(first.started[0].submitted_s, 100);
    EXPECT_EQ(fleet.pilots_of("fashion").size(), 2u);
    EXPECT_THAT(see(120).started, IsEmpty()) << "told once";
    slurm.end(running, 75);
    slurm.end(waiting, std::nullopt);
    const FleetChange last = see(130);
    ASSERT_THAT(last.ended, SizeIs(2));
    for (const PilotEnd& end : last.ended) {
        EXPECT_EQ(end.code, end.pilot.job == running ? std::optional(75) : std::nullopt);
    }
    EXPECT_THAT(fleet.pilots(), IsEmpty());
}

TEST_F(Fleet, AdoptsJobsThatItDoesNotKnow) {
    submit("n1");
    PilotFleet next(options, {"3f9c", "me", directory.path(), ""}, slurm.runner());
    EXPECT_THAT(next.update(ask_slurm(slurm.runner(), {}), 200).started, SizeIs(1));
    PilotFleet other(options, {"0000", "me", directory.path(), ""}, slurm.runner());
    EXPECT_THAT(other.update(ask_slurm(slurm.runner(), {}), 200).started, IsEmpty())
        << "of another state directory";
    PilotFleet foreign(options, {"3f9c", "you", directory.path(), ""}, slurm.runner());
    EXPECT_THAT(foreign.update(ask_slurm(slurm.runner(), {}), 200).started, IsEmpty()) << "of another user";
}

TEST_F(Fleet, LogsOfPilotsThatFailedStay) {
    const Pilot good = submit("n1");
    const Pilot bad = submit("n2");
    for (const Pilot& pilot : {good, bad}) {
        test::write_file(fleet.log_file(pilot), "what it said");
    }
    see(110);
    slurm.end(good.job, 0);
    slurm.end(bad.job, 9);
    see(120);
    EXPECT_FALSE(std::filesystem::exists(fleet.log_file(good)));
    EXPECT_TRUE(std::filesystem::exists(fleet.log_file(bad)));
}

TEST_F(Fleet, SendsAwayOnceAndInsistsAfterTheGraceTime) {
    const std::string job = submit("n1").job;
    see(110);
    auto deaf = slurm.jobs.at(job);
    EXPECT_EQ(fleet.send_away({job}, 120), "");
    EXPECT_EQ(slurm.count("scancel"), 1);
    EXPECT_THAT(slurm.commands.back(), AllOf(Contains("--signal=TERM"), Contains("--batch"), Contains(job)));
    slurm.jobs[job] = deaf;  // it does not go
    see(130);
    EXPECT_EQ(fleet.pilots().at(0).state, Pilot::State::leaving);
    fleet.send_away({job}, 130);
    fleet.insist(130);
    EXPECT_EQ(slurm.count("scancel"), 1) << "within the grace time";
    fleet.insist(190);
    EXPECT_EQ(slurm.count("scancel"), 2);
    EXPECT_THAT(slurm.commands.back(), Not(Contains("--signal=TERM")));
}

TEST_F(Fleet, TellsWhatScancelComplainsAbout) {
    const std::string job = submit("n1").job;
    see(110);
    slurm.silent = true;
    EXPECT_THAT(fleet.send_away({job}, 120), HasSubstr("scancel: "));
}

TEST_F(Fleet, WhatSbatchSaysIsAnError) {
    slurm.refusal = "Invalid account";
    test::expect_error(ExitCode::environment, "Invalid account", [&] { submit("n1"); });
    EXPECT_THAT(fleet.pilots(), IsEmpty());
}

}  // namespace
}  // namespace mastic::schedule
