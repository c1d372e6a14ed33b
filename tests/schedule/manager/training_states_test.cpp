#include <mastic/schedule/manager/setbacks.hpp>
#include <mastic/schedule/manager/training_states.hpp>

#include <gmock/gmock.h>

namespace mastic::schedule {
namespace {

using testing::HasSubstr;

Training training_in(TrainingState state) {
    Training training;
    training.id = "fashion";
    training.order.submitted_s = 1000;
    training.record.state = state;
    return training;
}

TrainingFacts facts_with(std::size_t pilots) {
    TrainingFacts facts;
    facts.pilots = pilots;
    return facts;
}

TrainingFacts ended_with(int code, double ended_s) {
    TrainingFacts facts;
    facts.progress.exit_code = code;
    facts.progress.ended_s = ended_s;
    facts.progress.samples = 500;
    return facts;
}

TEST(TrainingStates, FollowThePilots) {
    EXPECT_EQ(next_state(training_in(TrainingState::queued), facts_with(2), 3).state, TrainingState::running);
    EXPECT_EQ(next_state(training_in(TrainingState::running), facts_with(0), 3).state, TrainingState::queued);
    EXPECT_EQ(next_state(training_in(TrainingState::running), facts_with(1), 3).reason, "");
}

TEST(TrainingStates, DoneIsARunThatEndedWellSinceItWasSubmitted) {
    const Training running = training_in(TrainingState::running);
    EXPECT_EQ(next_state(running, ended_with(0, 1200), 3).state, TrainingState::done);
    EXPECT_EQ(next_state(running, ended_with(75, 1200), 3).state, TrainingState::queued);
    EXPECT_EQ(next_state(running, ended_with(7, 1200), 3).state, TrainingState::queued)
        << "another pilot may cure it";
    TrainingFacts before = ended_with(0, 900);
    EXPECT_EQ(next_state(running, before, 3).state, TrainingState::queued)
        << "it may have got more epochs since";
    before.pilot_was_done = true;
    EXPECT_EQ(next_state(running, before, 3).state, TrainingState::done);
}

TEST(TrainingStates, StoppingEndsWithTheLastPilot) {
    Training stopping = training_in(TrainingState::stopping);
    stopping.record.reason = "stopped by ana";
    EXPECT_EQ(next_state(stopping, facts_with(1), 3).state, TrainingState::stopping);
    const NextState next = next_state(stopping, facts_with(0), 3);
    EXPECT_EQ(next.state, TrainingState::stopped);
    EXPECT_EQ(next.reason, "stopped by ana");
}

TEST(TrainingStates, EnoughSamplesAreTheEnd) {
    Training training = training_in(TrainingState::running);
    training.order.total_samples = 400;
    TrainingFacts facts = facts_with(2);
    facts.progress.samples = 399;
    EXPECT_EQ(next_state(training, facts, 3).state, TrainingState::running);
    facts.progress.samples = 416;
    EXPECT_EQ(next_state(training, facts, 3).state, TrainingState::stopping);
    training.record.state = TrainingState::stopping;
    facts.pilots = 0;
    EXPECT_EQ(next_state(training, facts, 3).state, TrainingState::done);
}

TEST(TrainingStates, FailuresInARowAreTheEnd) {
    TrainingFacts facts = facts_with(0);
    facts.failures = 2;
    facts.last_failure = "code 3 (data); its log is x.log";
    EXPECT_EQ(next_state(training_in(TrainingState::queued), facts, 3).state, TrainingState::queued);
    facts.failures = 3;
    const NextState next = next_state(training_in(TrainingState::queued), facts, 3);
    EXPECT_EQ(next.state, TrainingState::failed);
    EXPECT_THAT(next.reason, HasSubstr("x.log"));
}

TEST(TrainingStates, AnEndStays) {
    for (const TrainingState end : {TrainingState::done, TrainingState::failed, TrainingState::stopped}) {
        EXPECT_EQ(next_state(training_in(end), facts_with(1), 3).state, end);
        EXPECT_EQ(next_state(training_in(end), ended_with(0, 2000), 3).state, end);
    }
}

PilotEnd end_with(std::optional<int> code) {
    return {{.job = "7", .training = "fashion", .node = "n1"}, code};
}

TEST(Setbacks, PilotsThatFailTogetherAreOneFailure) {
    Setbacks setbacks;
    setbacks.ended(end_with(3), "a.log");
    setbacks.ended(end_with(3), "b.log");
    setbacks.count(100);
    EXPECT_EQ(setbacks.failures(), 1);
    EXPECT_EQ(setbacks.last(), "code 3 (data); its log is b.log");
    setbacks.count(110);
    EXPECT_EQ(setbacks.failures(), 1) << "nothing new";
}

TEST(Setbacks, TheNextPilotWaitsLongerEachTime) {
    Setbacks setbacks;
    double last_wait = 0;
    for (int round = 0; round < 30; ++round) {
        setbacks.ended(end_with({}), "a.log");
        setbacks.count(1000 * round);
        const double wait = setbacks.not_before_s() - 1000 * round;
        EXPECT_GE(wait, last_wait);
        EXPECT_LE(wait, 600);
        last_wait = wait;
    }
    EXPECT_EQ(last_wait, 600);
    EXPECT_EQ(setbacks.failures(), 0) << "who was killed has made no error";
    setbacks.progressed(16);
    EXPECT_EQ(setbacks.not_before_s(), 0);
}

TEST(Setbacks, SilenceIsAFailureToo) {
    Setbacks setbacks;
    setbacks.hung("no step in 10 min");
    setbacks.count(100);
    EXPECT_EQ(setbacks.failures(), 1);
    EXPECT_GT(setbacks.not_before_s(), 100);
    EXPECT_EQ(setbacks.last(), "no step in 10 min");
}

TEST(Setbacks, ProgressForgivesAllOfThem) {
    Setbacks setbacks(2);
    setbacks.progressed(0);
    EXPECT_EQ(setbacks.failures(), 2) << "no sample more than before";
    setbacks.progressed(16);
    EXPECT_EQ(setbacks.failures(), 0);
}

TEST(Setbacks, WhoIsDoneIsNone) {
    Setbacks setbacks;
    setbacks.ended(end_with(0), "a.log");
    setbacks.count(100);
    EXPECT_EQ(setbacks.not_before_s(), 0);
}

}  // namespace
}  // namespace mastic::schedule
