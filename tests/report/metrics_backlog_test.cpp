#include <mastic/report/metrics_backlog.hpp>

#include <gtest/gtest.h>

#include "report/sample_run.hpp"
#include "support/temp_dir.hpp"

namespace mastic::report {
namespace {

EvaluationRecord evaluation_at(std::int64_t step) {
    EvaluationRecord record;
    record.step = step;
    record.split = "test";
    return record;
}

class Backlog : public testing::Test {
  protected:
    void write(std::int64_t first, std::int64_t last) {
        for (std::int64_t step = first; step <= last; ++step) {
            writer.write(test::sample_step(step));
        }
    }
    void keep(std::int64_t first, std::int64_t last) {
        for (std::int64_t step = first; step <= last; ++step) {
            backlog.keep(test::sample_step(step));
        }
    }
    std::vector<std::int64_t> handed_over() {
        backlog.hand_to(writer, read_metrics(file));
        std::vector<std::int64_t> steps;
        for (const StepRecord& step : read_metrics(file).steps) {
            steps.push_back(step.step);
        }
        return steps;
    }

    const test::TempDir directory;
    const std::filesystem::path file = directory / "metrics.jsonl";
    MetricsWriter writer{file};
    MetricsBacklog backlog;
};
using Numbers = std::vector<std::int64_t>;

TEST_F(Backlog, FillsTheHoleBetweenTwoWriters) {
    write(1, 3);
    keep(1, 6);
    EXPECT_EQ(handed_over(), (Numbers{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(handed_over().size(), 6u) << "and only once";
}

TEST_F(Backlog, HasNothingForAWriterThatWasAhead) {
    write(1, 7);
    keep(1, 6);
    EXPECT_EQ(handed_over(), (Numbers{1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(read_metrics(file).rewound_records, 0u);
}

TEST_F(Backlog, AStepThatIsDoneAgainReplacesWhatCameAtAndAfterIt) {
    keep(1, 5);
    backlog.keep(evaluation_at(4));
    keep(4, 4);
    backlog.keep(evaluation_at(4));
    EXPECT_EQ(handed_over(), (Numbers{1, 2, 3, 4}));
    const Metrics metrics = read_metrics(file);
    EXPECT_EQ(metrics.evaluations.size(), 1u);
    EXPECT_EQ(metrics.rewound_records, 0u);
}

TEST_F(Backlog, KeepsEvaluationsAndNoEvents) {
    write(1, 2);
    backlog.keep(evaluation_at(2));
    backlog.keep(EventRecord{2, 0, "checkpoint", "", {}});
    handed_over();
    const Metrics metrics = read_metrics(file);
    EXPECT_EQ(metrics.evaluations.size(), 1u);
    EXPECT_TRUE(metrics.events.empty());
}

TEST_F(Backlog, OfAWriterThatWroteLongAgoTheNewestAreKept) {
    keep(1, 5000);
    const Numbers steps = handed_over();
    ASSERT_EQ(steps.size(), 4096u);
    EXPECT_EQ(steps.back(), 5000);
}

}  // namespace
}  // namespace mastic::report
