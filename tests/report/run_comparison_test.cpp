#include <mastic/report/run_comparison.hpp>

#include <gmock/gmock.h>

#include "report/sample_run.hpp"

namespace mastic::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RunComparison, ShowsOneAlignedLinePerRunAndTheChangedOptions) {
    RunView other = test::sample_run(1, 0);
    other.record.reset();
    const std::string text =
        compare_table({{"runs/a", test::sample_run(1000, 100), {{"batch", "128"}, {"lr", "0.1"}}},
                       {"runs/b", other, {{"batch", "256"}, {"lr", "0.1"}, {"new", "x"}}}});
    EXPECT_EQ(text,
              "run     state     accuracy                    best  loss  train loss  steps    time  "
              "samples/s  ranks\n"
              "runs/a  finished   90.00 %  91.00 % accuracy @ 900   0.4       0.001  1,000  10.0 s      "
              "12.8k      2\n"
              "runs/b  crashed          -                       -     -           1      1   10 ms      "
              "12.8k      2\n"
              "\n"
              "changed option  runs/a  runs/b\n"
              "batch              128  256\n"
              "new                  -  x\n");
}

TEST(RunComparison, TakesTheLastEvaluationIfTheRunHasNotEnded) {
    RunView run = test::sample_run(100, 50);
    run.record->final_metrics.clear();
    EXPECT_THAT(compare_table({{"a", run, {}}}), HasSubstr("90.00 %"));
}

TEST(RunComparison, SaysIfNoOptionDiffers) {
    const RunView run = test::sample_run(10, 0);
    EXPECT_THAT(compare_table({{"a", run, {{"k", "1"}}}, {"b", run, {{"k", "1"}}}}),
                HasSubstr("no option differs"));
    EXPECT_THAT(compare_table({{"a", run, {{"k", "1"}}}}), Not(HasSubstr("option")));
}

TEST(RunComparison, CopesWithRunsThatNeverStarted) {
    EXPECT_THAT(compare_table({{"empty", RunView{}, {}}}), HasSubstr("not started"));
}

}  // namespace
}  // namespace mastic::report
