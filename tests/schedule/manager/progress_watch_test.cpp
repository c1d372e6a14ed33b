#include <mastic/schedule/manager/progress_watch.hpp>

#include <fstream>

#include <gmock/gmock.h>

#include <mastic/report/run_record.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::schedule {
namespace {

using report::EventRecord;
using report::StepRecord;
using testing::IsEmpty;

StepRecord step(double time_s, std::int64_t samples, int ranks) {
    StepRecord record;
    record.time_s = time_s;
    record.samples = samples;
    record.world_size = ranks;
    return record;
}

EventRecord event(const std::string& kind) {
    EventRecord record;
    record.kind = kind;
    return record;
}

TEST(SteadyRuns, OneIsAStretchWithoutChange) {
    SteadyRuns runs;
    EXPECT_FALSE(runs.add(step(100, 1000, 2)));
    EXPECT_FALSE(runs.add(step(110, 2000, 2)));
    const auto run = runs.add(step(121, 3100, 2));
    ASSERT_TRUE(run);
    EXPECT_EQ(run->nodes, 2);
    EXPECT_DOUBLE_EQ(run->rate, 100);
    EXPECT_DOUBLE_EQ(run->seconds, 21);
    EXPECT_FALSE(runs.add(step(130, 4000, 2))) << "the next one begins where this one ends";
    EXPECT_TRUE(runs.add(step(141, 5100, 2)));
}

TEST(SteadyRuns, AChangeBeginsANewOne) {
    SteadyRuns runs;
    runs.add(step(100, 1000, 2));
    runs.add(event("resize"));
    EXPECT_FALSE(runs.add(step(125, 1100, 2))) << "members were held up in between";
    EXPECT_FALSE(runs.add(step(140, 2600, 3))) << "other ranks";
    EXPECT_FALSE(runs.add(step(2, 2700, 3))) << "another process counts time from its own start";
    EXPECT_FALSE(runs.add(event("checkpoint")));
    const auto run = runs.add(step(22, 4700, 3));
    ASSERT_TRUE(run);
    EXPECT_EQ(run->nodes, 3);
    EXPECT_DOUBLE_EQ(run->rate, 100);
}

class Watch : public testing::Test {
  protected:
    void add(const std::string& text) { std::ofstream(directory / "metrics.jsonl", std::ios::app) << text; }
    void add(const report::MetricsRecord& record) { add(to_json_line(record) + "\n"); }

    test::TempDir directory;
    ProgressWatch watch{directory.path()};
};

TEST_F(Watch, ARunThatHasNotBegunHasNoProgress) {
    EXPECT_THAT(watch.look(1), IsEmpty());
    EXPECT_EQ(watch.progress().samples, 0);
    EXPECT_FALSE(watch.progress().exit_code);
}

TEST_F(Watch, ReadsOnWhereItWasAndLeavesHalfALineForLater) {
    add(step(1, 100, 1));
    watch.look(5);
    EXPECT_EQ(watch.progress().samples, 100);
    EXPECT_EQ(watch.progress().seen_s, 5);
    const std::string line = to_json_line(step(2, 200, 2)) + "\n";
    add(line.substr(0, 30));
    watch.look(6);
    EXPECT_EQ(watch.progress().samples, 100);
    EXPECT_EQ(watch.progress().seen_s, 5) << "nothing new";
    add(line.substr(30));
    watch.look(7);
    EXPECT_EQ(watch.progress().samples, 200);
    EXPECT_EQ(watch.progress().world_size, 2);
}

TEST_F(Watch, OfALongRunTheEndIsEnough) {
    for (int i = 1; i <= 2000; ++i) {
        add(step(i, 100 * i, 4));
    }
    const std::vector<SteadyRun> runs = watch.look(1);
    EXPECT_EQ(watch.progress().samples, 200'000);
    ASSERT_FALSE(runs.empty());
    EXPECT_LT(runs.size(), 50u) << "a file that was there before is not read from its beginning";
    EXPECT_DOUBLE_EQ(runs[0].rate, 100);
}

TEST_F(Watch, NewsIsAStepOrAnEvaluationAndNoStart) {
    watch.look(1);
    EXPECT_FALSE(watch.has_news());
    add(event("start"));
    watch.look(2);
    EXPECT_FALSE(watch.has_news()) << "it may hang from then on";
    add(step(1, 100, 1));
    watch.look(3);
    EXPECT_TRUE(watch.has_news());
    watch.look(4);
    EXPECT_FALSE(watch.has_news());
    add(report::EvaluationRecord{});
    watch.look(5);
    EXPECT_TRUE(watch.has_news());
}

TEST_F(Watch, WhatAnEarlierManagerHasReadIsNoNews) {
    for (int i = 1; i <= 2000; ++i) {
        add(step(i, 100 * i, 4));
    }
    watch.look(1);
    ProgressWatch next(directory.path(), watch.known());
    next.look(2);
    EXPECT_EQ(next.progress().samples, 200'000);
    EXPECT_FALSE(next.has_news());
    add(step(2001, 200'100, 4));
    ProgressWatch third(directory.path(), next.known());
    third.look(3);
    EXPECT_TRUE(third.has_news()) << "written while nobody looked";
    test::write_file(directory / "metrics.jsonl", to_json_line(step(1, 100, 1)) + "\n");
    ProgressWatch fourth(directory.path(), third.known());
    fourth.look(4);
    EXPECT_TRUE(fourth.has_news()) << "another file";
}

TEST_F(Watch, AFileThatIsAwayIsNoSilence) {
    add(step(1, 100, 1));
    watch.look(1);
    std::filesystem::rename(directory / "metrics.jsonl", directory / "away");
    test::expect_error(ExitCode::io, "metrics.jsonl", [&] { watch.look(2); });
    ProgressWatch next(directory.path(), watch.known());
    test::expect_error(ExitCode::io, "metrics.jsonl", [&] { next.look(3); });
    std::filesystem::rename(directory / "away", directory / "metrics.jsonl");
    watch.look(4);
    EXPECT_EQ(watch.progress().samples, 100);
    EXPECT_FALSE(watch.has_news());
}

TEST_F(Watch, WhoLeavesTellsHowFarItCame) {
    add(step(1, 100, 1));
    report::RunRecord record;
    record.samples = 100;
    const auto write_at = [&](int second) {
        write_run_record(directory / "run.json", record);
        std::filesystem::last_write_time(directory / "run.json",
                                         std::filesystem::file_time_type::clock::now() + std::chrono::seconds(second));
    };
    write_at(0);
    watch.look(1);
    write_at(5);
    watch.look(2);
    EXPECT_FALSE(watch.has_news());
    record.samples = 150;
    write_at(10);
    watch.look(3);
    EXPECT_TRUE(watch.has_news());
}

TEST_F(Watch, DamagedLinesAreLeftOut) {
    add("{\"type\": \"step\", \"sam\n\n[]\n");
    add(step(1, 100, 1));
    watch.look(1);
    EXPECT_EQ(watch.progress().samples, 100);
}

TEST_F(Watch, TheRecordTellsTheEnd) {
    report::RunRecord record;
    record.planned_samples = 640;
    write_run_record(directory / "run.json", record);
    watch.look(1);
    EXPECT_FALSE(watch.progress().exit_code);
    EXPECT_EQ(watch.progress().planned_samples, 640);
    record.samples = 640;
    finish(record, ExitCode::done, "finished", report::Time(std::chrono::seconds(1200)));
    write_run_record(directory / "run.json", record);
    std::filesystem::last_write_time(directory / "run.json",
                                     std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
    watch.look(2);
    EXPECT_EQ(watch.progress().exit_code, 0);
    EXPECT_EQ(watch.progress().ended_s, 1200);
    EXPECT_EQ(watch.progress().samples, 640);
}

}  // namespace
}  // namespace mastic::schedule
