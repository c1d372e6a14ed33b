#include <mastic/report/metrics.hpp>

#include <gtest/gtest.h>
#include <cmath>
#include <fstream>

#include "report/sample_run.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace mastic::report {
namespace {

std::vector<std::int64_t> step_numbers(const Metrics& metrics) {
    std::vector<std::int64_t> numbers;
    for (const StepRecord& step : metrics.steps) {
        numbers.push_back(step.step);
    }
    return numbers;
}
using Numbers = std::vector<std::int64_t>;

StepRecord step_at(std::int64_t step, double time_s = 0, double loss = 0) {
    StepRecord record = test::sample_step(step);
    record.time_s = time_s;
    record.loss = loss;
    return record;
}

EvaluationRecord evaluation_at(std::int64_t step, const std::string& split, double loss = 0) {
    EvaluationRecord record;
    record.step = step;
    record.split = split;
    record.loss = loss;
    return record;
}

EventRecord event_at(std::int64_t step, const std::string& kind) {
    return {step, 0, kind, "", {}};
}

std::string lines(const std::vector<MetricsRecord>& records) {
    std::string text;
    for (const MetricsRecord& record : records) {
        text += to_json_line(record) + "\n";
    }
    return text;
}

TEST(Metrics, RecordsComeBackAsWritten) {
    const test::TempDir directory;
    const StepRecord step = test::sample_step(7);
    EvaluationRecord evaluation = evaluation_at(7, "validation", 0.25);
    evaluation.metrics = {{"accuracy", 0.875}, {"top5_accuracy", 1}};
    const EventRecord event{7, 0.01, "checkpoint", "line\nbreak \"quoted\" Größe", {{"stall_ms", 3.25}}};
    {
        MetricsWriter writer(directory / "metrics.jsonl");
        writer.write(event);
        writer.write(step);
        writer.write(evaluation);
    }
    const Metrics metrics = read_metrics(directory / "metrics.jsonl");
    ASSERT_EQ(metrics.steps.size(), 1u);
    EXPECT_EQ(to_json_line(metrics.steps[0]), to_json_line(step));
    ASSERT_EQ(metrics.evaluations.size(), 1u);
    EXPECT_EQ(metrics.evaluations[0].split, "validation");
    EXPECT_EQ(metrics.evaluations[0].loss, 0.25);
    EXPECT_EQ(metrics.evaluations[0].metrics, evaluation.metrics);
    ASSERT_EQ(metrics.events.size(), 1u);
    EXPECT_EQ(metrics.events[0].text, event.text);
    EXPECT_EQ(metrics.events[0].numbers, event.numbers);
    EXPECT_EQ(metrics.damaged_lines, 0u);
}

TEST(Metrics, LinesNameSchemaTypeAndUnits) {
    const std::string line = to_json_line(test::sample_step(3));
    EXPECT_TRUE(
        line.starts_with(R"({"schema":1,"type":"step","step":3,"epoch":0,"samples":384,"time_s":0.03,)"))
        << line;
    for (const char* key :
         {"samples_per_s", "step_ms", "forward_ms", "backward_ms", "exposed_communication_ms", "optimizer_ms",
          "checkpoint_stall_ms", "global_batch", "world_size", "learning_rate"}) {
        EXPECT_NE(line.find('"' + std::string(key) + "\":"), std::string::npos) << key;
    }
    EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(Metrics, NotANumberIsNull) {
    StepRecord step = test::sample_step(1);
    step.loss = NAN;
    step.step_ms = INFINITY;
    const std::string line = to_json_line(step);
    EXPECT_NE(line.find("\"loss\":null"), std::string::npos);
    const auto back = parse_json_line(line);
    ASSERT_TRUE(back);
    EXPECT_TRUE(std::isnan(std::get<StepRecord>(*back).loss));
    EXPECT_TRUE(std::isnan(std::get<StepRecord>(*back).step_ms));
}

TEST(Metrics, UnknownKeysAreIgnoredAndMissingOnesKeepDefaults) {
    const auto record = parse_json_line(R"({"schema":1,"type":"step","step":4,"loss":0.5,"colour":"blue"})");
    ASSERT_TRUE(record);
    EXPECT_EQ(std::get<StepRecord>(*record).step, 4);
    EXPECT_EQ(std::get<StepRecord>(*record).world_size, 1);
    EXPECT_TRUE(std::isnan(std::get<StepRecord>(*record).forward_ms));
}

TEST(Metrics, DamagedLinesAreCountedNotFatal) {
    for (const char* line :
         {"{\"schema\":1,\"type\":\"step\",\"st", "garbage", "[]", "null",
          "{\"schema\":1,\"type\":\"other\"}", "{\"schema\":1,\"type\":\"step\",\"step\":\"four\"}",
          "{\"schema\":\"x\",\"type\":\"step\"}", "{}", "\xff\xfe"}) {
        EXPECT_FALSE(parse_json_line(line)) << line;
        const Metrics metrics = parse_metrics(lines({step_at(1)}) + line + "\n" + lines({step_at(2)}) + line);
        EXPECT_EQ(step_numbers(metrics), (Numbers{1, 2})) << line;
        EXPECT_EQ(metrics.damaged_lines, 2u) << line;
    }
}

TEST(Metrics, ALastLineTornAtAnyByteLosesOnlyItself) {
    const std::string whole = lines({step_at(1), step_at(2)});
    const std::size_t first = whole.find('\n') + 1;
    for (std::size_t size = first; size < whole.size() - 1; ++size) {
        EXPECT_EQ(step_numbers(parse_metrics(whole.substr(0, size))), (Numbers{1})) << size;
    }
    EXPECT_EQ(step_numbers(parse_metrics(whole.substr(0, whole.size() - 1))), (Numbers{1, 2}));
}

TEST(Metrics, WriterClosesALineTornByAKill) {
    const test::TempDir directory;
    const auto path = directory.write("metrics.jsonl", lines({step_at(1)}) + R"({"schema":1,"type":"st)");
    MetricsWriter(path).write(step_at(2));
    const Metrics metrics = read_metrics(path);
    EXPECT_EQ(step_numbers(metrics), (Numbers{1, 2}));
    EXPECT_EQ(metrics.damaged_lines, 1u);
}

TEST(Metrics, WriterAppendsToAWholeFileWithoutEmptyLines) {
    const test::TempDir directory;
    const auto path = directory.write("metrics.jsonl", lines({step_at(1)}));
    MetricsWriter(path).write(step_at(2));
    EXPECT_EQ(read_text_file(path), lines({step_at(1), step_at(2)}));
}

TEST(Metrics, ANewerSchemaIsAnErrorThatSaysSo) {
    test::expect_error(ExitCode::data, "schema 99",
                       [] { parse_json_line(R"({"schema":99,"type":"step"})"); });
}

TEST(Metrics, AMissingFileIsAnError) {
    const test::TempDir directory;
    test::expect_error(ExitCode::io, "none.jsonl", [&] { read_metrics(directory / "none.jsonl"); });
}

TEST(Metrics, AResumeThatRewindsReplacesWhatCameAfter) {
    const Metrics metrics = parse_metrics(
        lines({event_at(0, "start"), step_at(1, 0, 1), step_at(2, 0, 1), evaluation_at(2, "validation", 1),
               step_at(3, 0, 1), evaluation_at(3, "validation", 1), event_at(2, "resume"), step_at(3, 0, 2),
               step_at(4, 0, 2)}));
    EXPECT_EQ(step_numbers(metrics), (Numbers{1, 2, 3, 4}));
    EXPECT_EQ(metrics.steps[2].loss, 2);
    ASSERT_EQ(metrics.evaluations.size(), 1u);
    EXPECT_EQ(metrics.evaluations[0].step, 2);
    EXPECT_EQ(metrics.rewound_records, 2u);
    EXPECT_EQ(metrics.events.size(), 2u);
}

TEST(Metrics, AResumeDropsLaterStepsEvenIfTheNextRecordIsFurtherOn) {
    const Metrics metrics =
        parse_metrics(lines({step_at(10), step_at(20), step_at(30), event_at(15, "resume"), step_at(40)}));
    EXPECT_EQ(step_numbers(metrics), (Numbers{10, 40}));
}

TEST(Metrics, StepsThatGoBackRewindWithoutAResumeEvent) {
    const Metrics metrics = parse_metrics(lines({step_at(1), step_at(2), step_at(3), step_at(2, 0, 9)}));
    EXPECT_EQ(step_numbers(metrics), (Numbers{1, 2}));
    EXPECT_EQ(metrics.steps[1].loss, 9);
}

TEST(Metrics, SplitsOfOneStepStandSideBySideAndALaterOneWins) {
    const Metrics metrics = parse_metrics(lines(
        {evaluation_at(5, "validation", 1), evaluation_at(5, "test", 1), evaluation_at(5, "validation", 2)}));
    ASSERT_EQ(metrics.evaluations.size(), 2u);
    EXPECT_EQ(metrics.evaluations[0].split, "test");
    EXPECT_EQ(metrics.evaluations[1].loss, 2);
}

TEST(Metrics, TimeGoesOnOverRestartsLostWorkIncluded) {
    const Metrics metrics =
        parse_metrics(lines({event_at(0, "start"), step_at(1, 10), step_at(2, 20), step_at(3, 30),
                             event_at(1, "resume"), step_at(2, 50), step_at(3, 60)}));
    ASSERT_EQ(metrics.steps.size(), 3u);
    EXPECT_DOUBLE_EQ(metrics.steps[0].time_s, 10);
    EXPECT_DOUBLE_EQ(metrics.steps[1].time_s, 80);
    EXPECT_DOUBLE_EQ(metrics.steps[2].time_s, 90);
}

TEST(Metrics, AClockThatJumpsBackIsARestart) {
    const Metrics metrics =
        parse_metrics(lines({step_at(1, 10), step_at(2, 20), step_at(3, 5), step_at(4, 6)}));
    EXPECT_DOUBLE_EQ(metrics.steps[3].time_s, 26);
}

TEST(Metrics, AnEventWrittenLateByAnotherThreadIsNoRestart) {
    const Metrics metrics =
        parse_metrics(lines({step_at(1, 10), EventRecord{1, 4, "checkpoint", "", {}}, step_at(2, 11)}));
    EXPECT_DOUBLE_EQ(metrics.events[0].time_s, 4);
    EXPECT_DOUBLE_EQ(metrics.steps[1].time_s, 11);
}

TEST(Metrics, AFreshStartForgetsTheEarlierRun) {
    const Metrics metrics = parse_metrics(lines({step_at(1, 10), event_at(0, "start"), step_at(1, 3)}));
    EXPECT_EQ(step_numbers(metrics), (Numbers{1}));
    EXPECT_DOUBLE_EQ(metrics.steps[0].time_s, 3);
}

TEST(Metrics, TheEndOfALongFileCanBeReadAlone) {
    const test::TempDir directory;
    std::vector<MetricsRecord> records;
    for (int step = 1; step <= 500; ++step) {
        records.push_back(step_at(step));
    }
    const auto path = directory.write("metrics.jsonl", lines(records));
    const Metrics tail = read_metrics(path, 2000);
    EXPECT_EQ(tail.steps.back().step, 500);
    EXPECT_GT(tail.steps.front().step, 480);
    EXPECT_EQ(tail.damaged_lines, 0u);
    EXPECT_EQ(read_metrics(path).steps.size(), 500u);
}

}  // namespace
}  // namespace mastic::report
