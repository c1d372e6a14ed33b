#include <mastic/report/run_record.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <utility>

#include <mastic/core/file.hpp>

#include "report/sample_run.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::report {
namespace {

TEST(RunTime, IsWrittenInUtcAndReadBack) {
    const Time time{std::chrono::seconds(1772366400)};
    EXPECT_EQ(to_string(time), "2026-03-01T12:00:00Z");
    EXPECT_EQ(parse_time("2026-03-01T12:00:00Z"), time);
    for (const char* text : {"", "yesterday", "2026-03-01", "2026-03-01T12:00:00", "2026-03-01T12:00:00Z "}) {
        EXPECT_FALSE(parse_time(text)) << text;
    }
}

TEST(RunRecord, ComesBackAsWritten) {
    const test::TempDir directory;
    RunRecord record = test::sample_record();
    continue_from(record, test::sample_record());
    write_run_record(directory / "run.json", record);
    const RunRecord back = read_run_record(directory / "run.json");
    EXPECT_EQ(back.program, "mastic-train");
    EXPECT_EQ(back.command_line, record.command_line);
    EXPECT_EQ(back.hosts, record.hosts);
    EXPECT_EQ(back.attempt.started, record.attempt.started);
    EXPECT_EQ(back.attempt.ended, record.attempt.ended);
    EXPECT_EQ(back.attempt.exit_code, 0);
    EXPECT_EQ(back.attempt.exit_name, "done");
    EXPECT_EQ(back.attempt.reason, "all epochs done");
    EXPECT_EQ(back.attempt.job_id, "4711");
    EXPECT_EQ(back.attempt.world_size, 2);
    EXPECT_EQ(back.samples, record.samples);
    EXPECT_EQ(back.final_metrics, record.final_metrics);
    ASSERT_TRUE(back.best);
    EXPECT_EQ(back.best->name, "accuracy");
    EXPECT_EQ(back.best->step, 900);
    EXPECT_EQ(back.checkpoints, record.checkpoints);
    EXPECT_EQ(back.libraries, record.libraries);
    ASSERT_EQ(back.restarts.size(), 1u);
    EXPECT_EQ(back.restarts[0].last_step, 1000);
    EXPECT_EQ(back.attempt.first_step, 500);
    EXPECT_EQ(directory.names(), (std::vector<std::string>{"run.json"}));
}

TEST(RunRecord, ARunningOneHasNoEnd) {
    const test::TempDir directory;
    RunRecord record;
    record.attempt.started = *parse_time("2026-03-01T12:00:00Z");
    write_run_record(directory / "run.json", record);
    const RunRecord back = read_run_record(directory / "run.json");
    EXPECT_FALSE(back.attempt.exit_code);
    EXPECT_FALSE(back.attempt.ended);
    EXPECT_FALSE(back.best);
    EXPECT_NE(read_text_file(directory / "run.json").find("\"exit_code\": null"), std::string::npos);
}

TEST(RunRecord, KeepsTheHistoryOldestFirst) {
    RunRecord first = test::sample_record();
    first.attempt.reason = "first";
    RunRecord second = test::sample_record();
    second.attempt.reason = "second";
    continue_from(second, first);
    RunRecord third;
    continue_from(third, second);
    ASSERT_EQ(third.restarts.size(), 2u);
    EXPECT_EQ(third.restarts[0].reason, "first");
    EXPECT_EQ(third.restarts[1].reason, "second");
}

// Starts as {first step, exit code}; -1: killed without a word.
int fruitless(const std::vector<std::pair<int, int>>& starts, int checkpoint) {
    RunRecord record;
    for (const auto& [first, code] : starts) {
        RunAttempt& attempt = record.restarts.emplace_back();
        attempt.first_step = first;
        if (code >= 0) {
            attempt.exit_code = code;
        }
    }
    record.attempt = record.restarts.back();
    record.restarts.pop_back();
    return fruitless_attempts(record, checkpoint);
}

TEST(FruitlessAttempts, AreTheNewestInARowWithoutANewCheckpoint) {
    EXPECT_EQ(fruitless({{0, 75}}, 10), 0);
    EXPECT_EQ(fruitless({{0, 75}}, 0), 1);
    EXPECT_EQ(fruitless({{0, 75}, {0, 75}, {0, 75}}, 0), 3);
    EXPECT_EQ(fruitless({{0, 75}, {0, 75}, {10, 75}}, 10), 1);
    EXPECT_EQ(fruitless({{0, 75}, {0, 75}, {0, 75}}, 5), 0);
    // Killed, or with a lost node: with a checkpoint of step 20, then without one.
    EXPECT_EQ(fruitless({{0, -1}, {20, 75}}, 20), 1);
    EXPECT_EQ(fruitless({{20, -1}, {20, 7}, {20, 7}}, 20), 3);
    // What somebody started anew after another failure counts from there.
    EXPECT_EQ(fruitless({{0, 75}, {0, 8}, {0, 75}}, 0), 1);
    // A checkpoint that was lost is no progress.
    EXPECT_EQ(fruitless({{20, 75}, {10, 75}}, 10), 2);
}

TEST(RunRecord, AcceptsKeysItDoesNotKnow) {
    const test::TempDir directory;
    const auto path = directory.write(
        "run.json", R"({"schema":1,"program":"p","new_key":[1],"restarts":[{"job_id":"7"}]})");
    const RunRecord record = read_run_record(path);
    EXPECT_EQ(record.program, "p");
    EXPECT_EQ(record.restarts.at(0).job_id, "7");
}

TEST(RunRecord, DamageIsADataErrorNamingTheFile) {
    const test::TempDir directory;
    for (const char* text :
         {"", "{", "[]", R"({"program":5})", R"({"restarts":[{"last_step":"x"}]})", R"({"schema":"a"})"}) {
        const auto path = directory.write("run.json", text);
        test::expect_error(ExitCode::data, "run.json", [&] { read_run_record(path); });
    }
    const auto path = directory.write("run.json", R"({"schema":2})");
    test::expect_error(ExitCode::data, "schema 2", [&] { read_run_record(path); });
    test::expect_error(ExitCode::io, "none.json", [&] { read_run_record(directory / "none.json"); });
}

TEST(RunRecord, ReplacesTheOldFileAtOnce) {
    const test::TempDir directory;
    const auto path = directory.write("run.json", "old");
    struct stat before {};
    ASSERT_EQ(stat(path.c_str(), &before), 0);
    write_run_record(path, test::sample_record());
    struct stat after {};
    ASSERT_EQ(stat(path.c_str(), &after), 0);
    EXPECT_NE(before.st_ino, after.st_ino);
}

}  // namespace
}  // namespace mastic::report
