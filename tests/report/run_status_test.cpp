#include <mastic/report/run_status.hpp>

#include <gmock/gmock.h>
#include <cmath>

#include "report/sample_run.hpp"
#include "support/temp_dir.hpp"

namespace mastic::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RunStatus, StateFollowsLockAndExitCode) {
    struct Case {
        const char* what;
        std::optional<int> exit_code;
        std::string owner;
        RunState state;
    };
    for (const Case& example :
         std::vector<Case>{{"done", 0, "", RunState::finished},
                           {"requeue", 75, "", RunState::stopped},
                           {"lost rank", 7, "", RunState::failed},
                           {"killed", std::nullopt, "", RunState::crashed},
                           {"running", std::nullopt, "job 1", RunState::running},
                           {"resumed after a failure", 7, "job 1", RunState::running}}) {
        RunView run = test::sample_run(10, 0);
        run.record->attempt.exit_code = example.exit_code;
        run.owner = example.owner;
        EXPECT_EQ(state_of(run), example.state) << example.what;
    }
    EXPECT_EQ(state_of(RunView{}), RunState::empty);
    RunView killed_early = test::sample_run(10, 0);
    killed_early.record.reset();
    EXPECT_EQ(state_of(killed_early), RunState::crashed);
}

TEST(RunStatus, ARunningRunTellsOwnerSpeedAndRemainingTime) {
    RunView run = test::sample_run(500, 100);
    run.record->attempt.exit_code.reset();
    run.record->attempt.ended.reset();
    run.owner = "job 1234 on node01, process 77";
    run.newest_checkpoint = "checkpoint-400, 20 s old";
    const std::string text = status_text(run);
    EXPECT_THAT(text, HasSubstr("running: job 1234 on node01, process 77"));
    EXPECT_THAT(text, HasSubstr("running for 10 min"));
    EXPECT_THAT(text, HasSubstr("500, epoch 6, 64,000 samples (50.0 %)"));
    EXPECT_THAT(text, HasSubstr("12.8k samples/s on 2 ranks"));
    EXPECT_THAT(text, HasSubstr("about 5"));  // 64,000 samples at 12,800/s
    EXPECT_THAT(text, HasSubstr("validation at step 500: loss 0.4, accuracy 90.00 %"));
    EXPECT_THAT(text, HasSubstr("accuracy 91.00 % at step 900"));
    EXPECT_THAT(text, HasSubstr("checkpoint-400, 20 s old"));
    EXPECT_THAT(text, HasSubstr("SIGUSR1"));
}

TEST(RunStatus, AFinishedRunPointsToTheReport) {
    const std::string text = status_text(test::sample_run(1000, 100));
    EXPECT_THAT(text, HasSubstr("finished, exit code 0 (done): all epochs done"));
    EXPECT_THAT(text, HasSubstr("ran 4 min 10 s"));
    EXPECT_THAT(text, HasSubstr("checkpoint-1000"));
    EXPECT_THAT(text, HasSubstr("report"));
    EXPECT_THAT(text, Not(HasSubstr("remaining")));
}

TEST(RunStatus, ACrashSaysThatItResumes) {
    RunView run = test::sample_run(10, 0);
    run.record->attempt.exit_code.reset();
    run.record->attempt.ended.reset();
    run.record->attempt.reason.clear();
    run.record->restarts.resize(2);
    const std::string text = status_text(run);
    EXPECT_THAT(text, HasSubstr("state       crashed\n"));
    EXPECT_THAT(text, HasSubstr("start number 3"));
    EXPECT_THAT(text, Not(HasSubstr("running for")));
    EXPECT_THAT(text, HasSubstr("it resumes"));
}

TEST(RunStatus, AnEmptyDirectoryIsNotAnError) {
    const test::TempDir directory;
    const RunView run = load_run(directory.path(), Time{});
    EXPECT_THAT(status_text(run), HasSubstr("not started"));
    EXPECT_THAT(status_text(run), HasSubstr("none yet"));
}

TEST(RunStatus, LoadsBothFiles) {
    const test::TempDir directory;
    write_run_record(directory / "run.json", test::sample_record());
    MetricsWriter(directory / "metrics.jsonl").write(test::sample_step(3));
    const RunView run = load_run(directory.path(), Time{});
    ASSERT_TRUE(run.record);
    EXPECT_EQ(run.metrics.steps.size(), 1u);
    EXPECT_EQ(run.directory, directory.path());
}

TEST(RunStatus, EachFailureHasItsOwnAdvice) {
    std::vector<std::string> advice;
    for (const int code : {2, 3, 4, 5, 6, 7, 8, 9, 139}) {
        advice.push_back(next_action(RunState::failed, code));
        EXPECT_FALSE(advice.back().empty());
    }
    std::sort(advice.begin(), advice.end());
    EXPECT_EQ(std::adjacent_find(advice.begin(), advice.end()), advice.end());
}

TEST(RunStatus, RateIsTheMedianOfTheLastSteps) {
    Metrics metrics = test::sample_metrics(100, 0);
    for (std::size_t i = 90; i < 100; ++i) {
        metrics.steps[i].samples_per_s = i == 95 ? NAN : 100;
    }
    EXPECT_DOUBLE_EQ(median_rate(metrics, 10), 100);
    EXPECT_DOUBLE_EQ(median_rate(metrics), 12800);
    EXPECT_TRUE(std::isnan(median_rate(Metrics{})));
}

}  // namespace
}  // namespace mastic::report
