#include <mastic/report/training_report.hpp>

#include <gmock/gmock.h>
#include <cmath>

#include <mastic/report/training_plots.hpp>

#include "report/markup.hpp"
#include "report/sample_run.hpp"

namespace mastic::report {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> titles(const std::vector<test::Element>& elements) {
    std::vector<std::string> result;
    for (const auto& element : test::select(elements, "tspan", "title")) {
        result.push_back(element.text);
    }
    return result;
}

std::map<std::string, std::string> tiles(const std::vector<test::Element>& elements) {
    const auto labels = test::select(elements, "div", "label");
    const auto values = test::select(elements, "div", "value");
    std::map<std::string, std::string> result;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        result[labels[i].text] = values.at(i).text;
    }
    return result;
}

TEST(TrainingReport, ShowsCurvesTilesAndTables) {
    RunView run = test::sample_run(1000, 100);
    run.metrics.events = {{500, 5, "checkpoint", "checkpoint-500", {{"stall_ms", 3}}},
                          {600, 6, "resume", "from checkpoint-500", {}}};
    const auto elements = test::parse_markup(training_report(run, "[train]\nbatch = 128  # flag\n"));
    EXPECT_EQ(test::select(elements, "h1").at(0).text, "sample");
    EXPECT_EQ(test::select(elements, "span", "good").at(0).text, "finished");
    for (const char* title :
         {"Loss", "Accuracy", "Throughput", "Time per step", "Exposed communication", "Learning rate"}) {
        EXPECT_THAT(titles(elements), Contains(title));
    }
    EXPECT_THAT(titles(elements), Not(Contains("Ranks")));
    auto shown = tiles(elements);
    EXPECT_EQ(shown["best accuracy"], "91.00 %");
    EXPECT_EQ(shown["last accuracy"], "90.00 %");
    EXPECT_EQ(shown["samples/s"], "12.8k");
    EXPECT_EQ(shown["ranks"], "2");
    EXPECT_EQ(shown["time"], "10.0 s");
    EXPECT_EQ(shown["communication"], "10.0 %");
    std::vector<std::string> cells;
    for (const auto& cell : test::select(elements, "td")) {
        cells.push_back(cell.text);
    }
    for (const char* cell :
         {"train.batch", "128", "flag", "mastic-train --train.epochs 10", "node01, node02", "MPICH 4.0.2",
          "from checkpoint-500", "stall_ms 3", "exposed communication", "10.0 %"}) {
        EXPECT_THAT(cells, Contains(cell));
    }
    EXPECT_FALSE(test::select(elements, "line", "event").empty());
    EXPECT_FALSE(test::select(elements, "path", "event-mark").empty());
}

TEST(TrainingReport, WorksWithAlmostNothing) {
    RunView one = test::sample_run(1, 0);
    one.record.reset();
    RunView bare = one;
    bare.metrics.steps[0] = StepRecord{};
    for (const RunView& run : {one, bare, RunView{}}) {
        const std::string html = training_report(run, "");
        const auto elements = test::parse_markup(html);
        EXPECT_THAT(titles(elements), Contains("Loss"));
        EXPECT_THAT(titles(elements), Not(Contains("Accuracy")));
        EXPECT_EQ(html.find("=\"nan"), std::string::npos);
        EXPECT_EQ(html.find("=\"inf"), std::string::npos);
    }
}

TEST(TrainingReport, AHundredThousandStepsStayUnderOneMegabyte) {
    RunView run = test::sample_run(100'000, 500);
    for (std::size_t i = 0; i < run.metrics.steps.size(); ++i) {
        const double noise = std::sin(static_cast<double>(i) * 1.7);
        run.metrics.steps[i].loss = 2 + noise;
        run.metrics.steps[i].samples_per_s += 1000 * noise;
        run.metrics.steps[i].exposed_communication_ms += noise;
    }
    for (int i = 0; i < 1000; ++i) {
        run.metrics.events.push_back(
            {i * 100, i * 1.0, i % 10 == 0 ? "resume" : "checkpoint", "text", {{"ms", 1.5}}});
    }
    const std::string html = training_report(run, "");
    EXPECT_LT(html.size(), 1'000'000u);
    EXPECT_GT(html.size(), 100'000u);
}

TEST(TrainingReport, AFailureSaysWhatToDo) {
    RunView run = test::sample_run(10, 0);
    finish(*run.record, ExitCode::non_finite, "loss is NaN on rank 1", run.now);
    const auto elements = test::parse_markup(training_report(run, ""));
    EXPECT_EQ(test::select(elements, "span", "bad").at(0).text, "failed");
    const std::string note = test::select(elements, "p", "bad").at(0).text;
    EXPECT_THAT(note, HasSubstr("loss is NaN on rank 1. What to do: lower the learning rate"));
}

TEST(TrainingReport, RestartsAndResizesAreShown) {
    RunView run = test::sample_run(100, 0);
    RunAttempt earlier = run.record->attempt;
    earlier.exit_code.reset();
    earlier.ended.reset();
    run.record->restarts = {earlier};
    for (std::size_t i = 50; i < 100; ++i) {
        run.metrics.steps[i].world_size = 4;
        run.metrics.steps[i].global_batch = 256;
    }
    const std::string page = training_report(run, "");
    EXPECT_THAT(page, HasSubstr("2 to 4"));
    const auto elements = test::parse_markup(page);
    EXPECT_THAT(titles(elements), Contains("Ranks"));
    EXPECT_THAT(titles(elements), Contains("Global batch"));
    std::vector<std::string> summaries;
    for (const auto& summary : test::select(elements, "summary")) {
        summaries.push_back(summary.text);
    }
    EXPECT_THAT(summaries, Contains("Starts (2)"));
}

TEST(TrainingReport, HostileNamesStayText) {
    const std::string evil = "</td><script>x</script>\"'&\x02";
    RunView run = test::sample_run(50, 10);
    run.directory = "runs/<b>" + evil.substr(5, 9);
    run.record->command_line = run.record->hosts = run.record->checkpoints = {evil};
    run.record->attempt.reason = run.record->program = run.record->version = evil;
    run.record->libraries = {{evil, evil}};
    run.record->best->name = evil;
    run.metrics.evaluations[0].split = evil;
    run.metrics.evaluations[0].metrics[evil] = 1;
    run.metrics.events = {{5, 1, evil, evil, {{evil, 1}}}};
    for (const std::string& config : {"[" + evil + "]\nk = \"" + evil + "\"\n", evil}) {
        const auto elements = test::parse_markup(training_report(run, config));
        EXPECT_TRUE(test::select(elements, "script").empty());
        EXPECT_TRUE(test::select(elements, "b").empty());
    }
}

TEST(TrainingPlots, LossTurnsLogarithmicWhenItFallsFar) {
    EXPECT_EQ(loss_plot(test::sample_metrics(10, 0)).y.scale, Scale::linear);
    EXPECT_EQ(loss_plot(test::sample_metrics(1000, 0)).y.scale, Scale::logarithmic);
}

TEST(TrainingPlots, ASplitKeepsItsColour) {
    Metrics metrics = test::sample_metrics(100, 10);
    EvaluationRecord extra = metrics.evaluations.back();
    extra.split = "test";
    metrics.evaluations.push_back(extra);
    const LinePlot loss = loss_plot(metrics);
    const LinePlot accuracy = quality_plots(metrics).at(0);
    ASSERT_EQ(loss.series.size(), 4u);  // raw, smoothed, two splits
    ASSERT_EQ(accuracy.series.size(), 2u);
    EXPECT_EQ(loss.series[2].label, accuracy.series[0].label);
    EXPECT_EQ(loss.series[2].colour, accuracy.series[0].colour);
    EXPECT_NE(loss.series[2].colour, loss.series[3].colour);
    EXPECT_DOUBLE_EQ(accuracy.series[0].y.back(), 90);
}

TEST(TrainingPlots, ASlowFirstStepDoesNotFlattenThePhases) {
    Metrics metrics = test::sample_metrics(50, 0);
    metrics.steps[0].step_ms = 2000;
    for (const LinePlot& plot : system_plots(metrics)) {
        if (plot.title == "Time per step") {
            EXPECT_LT(plot.y.high.value_or(2000), 20);
            EXPECT_THAT(plot.y.label, HasSubstr("cut off"));
        }
    }
}

}  // namespace
}  // namespace mastic::report
