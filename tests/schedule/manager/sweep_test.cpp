#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <mastic/schedule/manager/sweep.hpp>

#include "support/expect_error.hpp"

namespace mastic::schedule {
namespace {

using mastic::test::expect_error;
using testing::ElementsAre;
using Kind = Verdict::Kind;

TEST(Sweep, HasATrialForEachLine) {
    const auto trials =
        parse_sweep("--optimizer.learning_rate 0.1\n\n# slow ones\r\n  --a 1  --b 2 \n", "rates.txt");
    ASSERT_EQ(trials.size(), 2u);
    EXPECT_EQ(trials[0].line, 1u);
    EXPECT_THAT(trials[0].arguments, ElementsAre("--optimizer.learning_rate", "0.1"));
    EXPECT_EQ(trials[1].line, 4u);
    EXPECT_THAT(trials[1].arguments, ElementsAre("--a", "1", "--b", "2"));
    expect_error(ExitCode::usage, "rates.txt:2: --run.dir=x",
                 [] { parse_sweep("--a 1\n--run.dir=x\n", "rates.txt"); });
    expect_error(ExitCode::usage, "rates.txt has no trial", [] { parse_sweep("\n# none\n", "rates.txt"); });
}

TEST(Sweep, TrialsAreOrdersOfTheirOwn) {
    TrainingOrder base;
    base.config = "my.toml";
    base.most = 4;
    base.arguments = {"--train.epochs", "6"};
    const auto trials = parse_sweep("--lr 1\n--lr 2\n", "rates.txt");
    const auto orders = sweep_orders(base, trials, "rates", 1);
    ASSERT_EQ(orders.size(), 2u);
    EXPECT_EQ(orders[1].name, "rates-2");
    EXPECT_EQ(orders[1].run_directory, "runs/rates/2");
    EXPECT_THAT(orders[1].arguments, ElementsAre("--train.epochs", "6", "--lr", "2"));
    EXPECT_EQ(orders[1].sweep, "rates");
    EXPECT_EQ(orders[1].keep_best, 1);
    EXPECT_EQ(orders[1].most, 4);
    base.run_directory = "/scratch/rates";
    EXPECT_EQ(sweep_orders(base, trials, "rates", 1)[0].run_directory, "/scratch/rates/1");
}

report::Metrics losses_falling_to(double loss, std::int64_t samples = 800) {
    report::Metrics metrics;
    for (std::int64_t done = 10; done <= samples; done += 10) {
        report::StepRecord step;
        step.samples = done;
        step.loss = loss + 10.0 / static_cast<double>(done);
        metrics.steps.push_back(step);
    }
    return metrics;
}

TEST(Score, IsThatOfEqualSamples) {
    report::Metrics metrics = losses_falling_to(0);
    EXPECT_EQ(score_at(metrics, 400)->metric, "loss");
    EXPECT_NEAR(score_at(metrics, 400)->value, 10.0 / 350, 0.001);  // the mean of 300 to 400
    EXPECT_FALSE(score_at(metrics, 5));
    report::EvaluationRecord evaluation;
    evaluation.samples = 300;
    evaluation.metrics = {{"accuracy", 0.5}};
    metrics.evaluations.push_back(evaluation);
    evaluation.samples = 600;
    evaluation.metrics = {{"accuracy", 0.7}};
    metrics.evaluations.push_back(evaluation);
    EXPECT_EQ(score_at(metrics, 599)->value, 0.5);
    EXPECT_EQ(score_at(metrics, 600)->value, 0.7);
    EXPECT_EQ(score_at(metrics, 600)->metric, "accuracy");
}

TEST(Score, KnowsWhatIsBetter) {
    EXPECT_TRUE((Score{"loss", 1}).better_than({"loss", 2}));
    EXPECT_TRUE((Score{"accuracy", 0.9}).better_than({"accuracy", 0.8}));
    EXPECT_TRUE((Score{"loss", 1}).better_than({"loss", std::nan("")}));
    EXPECT_FALSE((Score{"loss", std::nan("")}).better_than({"loss", 1}));
    EXPECT_FALSE((Score{"loss", INFINITY}).better_than({"loss", std::nan("")}));
}

// Trials of 800 planned samples, whose losses end at the given values.
std::vector<TrialView> trials_at(std::int64_t samples, const std::vector<double>& losses) {
    std::vector<TrialView> trials;
    for (const double loss : losses) {
        trials.push_back(
            {"t", TrainingState::running, samples, 800, [loss] { return losses_falling_to(loss); }});
    }
    return trials;
}

std::vector<Kind> kinds(const std::vector<TrialView>& trials, int keep_best) {
    std::vector<Kind> all;
    for (const Verdict& verdict : judge_sweep(trials, keep_best)) {
        all.push_back(verdict.kind);
    }
    return all;
}

TEST(SuccessiveHalving, StopsTheWorseHalfAtEachRung) {
    std::vector<TrialView> trials = trials_at(100, {8, 1, 7, 2, 6, 3, 5, 4});  // rungs at 100, 200 and 400
    EXPECT_THAT(kinds(trials, 1), ElementsAre(Kind::stop, Kind::go_on, Kind::stop, Kind::go_on, Kind::stop,
                                              Kind::go_on, Kind::stop, Kind::go_on));
    EXPECT_THAT(judge_sweep(trials, 1)[0].reason,
                testing::HasSubstr("place 8 of 8 at 100 samples: loss 8.1"));
    std::vector<TrialView> left = trials;
    for (const std::size_t loser : {0u, 2u, 4u, 6u}) {
        left[loser].state = TrainingState::stopped;
    }
    EXPECT_THAT(kinds(left, 1), testing::Each(Kind::go_on));  // the next rung is further on
    for (TrialView& trial : left) {
        trial.samples = 200;
    }
    const auto second = kinds(left, 1);
    EXPECT_EQ(std::ranges::count(second, Kind::stop), 2);
    EXPECT_EQ(second[1], Kind::go_on);
    EXPECT_EQ(second[3], Kind::go_on);
}

TEST(SuccessiveHalving, WhoIsAheadWaits) {
    std::vector<TrialView> trials = trials_at(100, {1, 2, 3, 4, 5, 6, 7, 8});
    trials[3].samples = 99;
    const auto verdicts = kinds(trials, 1);
    EXPECT_EQ(verdicts[3], Kind::go_on);
    EXPECT_EQ(std::ranges::count(verdicts, Kind::wait), 7);
    trials[3].state = TrainingState::failed;  // nobody waits for it
    EXPECT_EQ(std::ranges::count(kinds(trials, 1), Kind::stop), 3);
}

// With more trials than nodes those that run must not run on to their end before the others have begun.
TEST(SuccessiveHalving, TrialsThatHaveNotBegunAreWaitedForToo) {
    std::vector<TrialView> trials = trials_at(100, {1, 2, 3, 4});
    for (const std::size_t late : {2u, 3u}) {
        trials[late].samples = trials[late].planned_samples = 0;
        trials[late].state = TrainingState::queued;
    }
    EXPECT_THAT(kinds(trials, 1), testing::Each(Kind::go_on)) << "the first rung lies at 200";
    trials[0].samples = trials[1].samples = 200;
    EXPECT_THAT(kinds(trials, 1), ElementsAre(Kind::wait, Kind::wait, Kind::go_on, Kind::go_on));
    trials[0].planned_samples = trials[1].planned_samples = 0;
    EXPECT_THAT(kinds(trials, 1), testing::Each(Kind::go_on)) << "nobody knows where the rung lies";
}

TEST(SuccessiveHalving, MoreNodesAreNoAdvantage) {
    std::vector<TrialView> trials = trials_at(400, {2, 1});
    trials[0].samples = 799;  // ahead, and its loss fell further meanwhile; at 400 it was the worse one
    trials[0].metrics = [] {
        report::Metrics metrics = losses_falling_to(2, 400);
        report::StepRecord later;
        later.samples = 790;
        later.loss = 0.1;
        metrics.steps.push_back(later);
        return metrics;
    };
    EXPECT_THAT(kinds(trials, 1), ElementsAre(Kind::stop, Kind::go_on));
}

TEST(SuccessiveHalving, KeepsAsManyAsAsked) {
    const std::vector<TrialView> trials = trials_at(800, {1, 2, 3, 4, 5});
    EXPECT_EQ(std::ranges::count(kinds(trials, 2), Kind::stop),
              2);  // ceil(5 / 2) = 3 go on from the first rung
    EXPECT_THAT(kinds(trials, 5), testing::Each(Kind::go_on));
    EXPECT_THAT(kinds(trials, 9), testing::Each(Kind::go_on));
    EXPECT_THAT(kinds(trials, 0), testing::Each(Kind::go_on));
}

TEST(SuccessiveHalving, ADeathBetweenTwoStopsChangesNothing) {
    std::vector<TrialView> trials = trials_at(100, {8, 1, 7, 2, 6, 3, 5, 4});
    trials[0].state = TrainingState::stopped;  // one of the four that shall go is gone already
    const auto verdicts = kinds(trials, 1);
    EXPECT_EQ(std::ranges::count(verdicts, Kind::stop), 3);
    EXPECT_EQ(verdicts[7], Kind::go_on);
}

TEST(SuccessiveHalving, DecidesNothingWhileThePlanIsUnknown) {
    std::vector<TrialView> trials = trials_at(100, {1, 2});
    trials[0].planned_samples = 0;
    EXPECT_THAT(kinds(trials, 1), testing::Each(Kind::go_on));
}

TEST(SuccessiveHalving, WhatCannotBeJudgedIsWorst) {
    std::vector<TrialView> trials = trials_at(400, {1, 5});
    trials[0].metrics = [] { return report::Metrics{}; };
    EXPECT_THAT(kinds(trials, 1), ElementsAre(Kind::stop, Kind::go_on));
    EXPECT_THAT(judge_sweep(trials, 1)[0].reason, testing::HasSubstr("nothing to judge by"));
}

}  // namespace
}  // namespace mastic::schedule
