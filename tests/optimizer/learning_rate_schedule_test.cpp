#include <gtest/gtest.h>

#include <mastic/optimizer/learning_rate_schedule.hpp>

#include "support/expect_error.hpp"

namespace mastic::optimizer {
namespace {

using test::expect_error;

TEST(LearningRateSchedule, HasTheRightValuesAtItsBoundaries) {
    const ScheduleOptions constant{.base = 0.5};
    const ScheduleOptions warm{.base = 0.5, .warmup = 100, .warmup_start = 0.2};
    const ScheduleOptions step{
        .base = 1.0, .kind = ScheduleKind::step, .decay_points = {100, 200}, .decay_factor = 0.5};
    const ScheduleOptions warm_step{.base = 1.0,
                                    .kind = ScheduleKind::step,
                                    .warmup = 100,
                                    .warmup_start = 0.0,
                                    .decay_points = {50},
                                    .decay_factor = 0.5};
    const ScheduleOptions cosine{.base = 1.0, .kind = ScheduleKind::cosine, .final_rate = 0.2, .total = 1000};
    const ScheduleOptions warm_cosine{
        .base = 1.0, .kind = ScheduleKind::cosine, .warmup = 200, .warmup_start = 0.0, .total = 1000};
    const ScheduleOptions linear{.base = 1.0, .kind = ScheduleKind::linear, .warmup = 200, .total = 1000};
    const struct {
        const ScheduleOptions& options;
        std::uint64_t samples;
        double rate;
    } cases[] = {
        {constant, 0, 0.5},       {constant, 1ull << 60, 0.5},  //
        {warm, 0, 0.1},           {warm, 50, 0.3},
        {warm, 100, 0.5},         {warm, 101, 0.5},  //
        {step, 0, 1.0},           {step, 99, 1.0},
        {step, 100, 0.5},         {step, 199, 0.5},
        {step, 200, 0.25},        {step, 1000000, 0.25},  //
        {warm_step, 49, 0.49},    {warm_step, 50, 0.25},
        {warm_step, 100, 0.5},  //
        {cosine, 0, 1.0},         {cosine, 500, 0.6},
        {cosine, 1000, 0.2},      {cosine, 5000, 0.2},
        {warm_cosine, 0, 0.0},    {warm_cosine, 100, 0.5},
        {warm_cosine, 200, 1.0},  {warm_cosine, 600, 0.5},
        {warm_cosine, 1000, 0.0},  //
        {linear, 0, 0.1},         {linear, 200, 1.0},
        {linear, 400, 0.75},      {linear, 1000, 0.0},
    };
    for (const auto& expected : cases) {
        EXPECT_NEAR(LearningRateSchedule(expected.options).rate(expected.samples), expected.rate, 1e-12)
            << LearningRateSchedule(expected.options).description() << " at " << expected.samples;
    }
}

TEST(LearningRateSchedule, SaysWhatItDoes) {
    EXPECT_EQ(LearningRateSchedule({.base = 0.01}).description(), "0.01, constant");
    EXPECT_EQ(
        LearningRateSchedule({.base = 0.1, .kind = ScheduleKind::cosine, .warmup = 5000, .total = 600000})
            .description(),
        "0.1, linear warm-up over 5000 samples, cosine to 0 at 600000 samples");
    EXPECT_EQ(LearningRateSchedule({.base = 0.1, .kind = ScheduleKind::step, .decay_points = {100, 200}})
                  .description(),
              "0.1, step: times 0.1 at 100 200 samples");
}

TEST(LearningRateSchedule, RefusesWrongOptions) {
    const struct {
        ScheduleOptions options;
        const char* part;
    } cases[] = {
        {{.base = -1}, "optimizer.learning_rate"},
        {{.warmup = 10, .warmup_start = 1.5}, "start of the warm-up"},
        {{.kind = ScheduleKind::step}, "needs schedule.milestones"},
        {{.kind = ScheduleKind::step, .decay_points = {2, 1}}, "ascend"},
        {{.decay_points = {1}}, "need schedule.kind step"},
        {{.kind = ScheduleKind::step, .decay_points = {1}, .decay_factor = 0}, "schedule.factor"},
        {{.kind = ScheduleKind::cosine}, "longer than the warm-up"},
        {{.kind = ScheduleKind::linear, .warmup = 10, .total = 10}, "longer than the warm-up"},
        {{.kind = ScheduleKind::linear, .final_rate = -1, .total = 10}, "schedule.final_fraction"},
    };
    for (const auto& wrong : cases) {
        expect_error(ExitCode::usage, wrong.part, [&] { LearningRateSchedule schedule(wrong.options); });
    }
}

TEST(ScheduleKind, IsParsedByName) {
    for (const ScheduleKind kind :
         {ScheduleKind::constant, ScheduleKind::step, ScheduleKind::cosine, ScheduleKind::linear}) {
        EXPECT_EQ(parse_schedule_kind(to_string(kind)), kind);
    }
    expect_error(ExitCode::usage, "did you mean 'cosine'", [] { parse_schedule_kind("cosin"); });
}

}  // namespace
}  // namespace mastic::optimizer
