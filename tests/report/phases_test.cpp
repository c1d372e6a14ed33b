#include <mastic/report/phases.hpp>

#include <gtest/gtest.h>
#include <cmath>

#include "report/sample_run.hpp"

namespace mastic::report {
namespace {

TEST(Phases, AddUpToTheStep) {
    const auto phases = phases_of(test::sample_metrics(10, 0).steps);
    ASSERT_EQ(phases.size(), 6u);
    double sum = 0;
    for (const Phase& phase : phases) {
        ASSERT_EQ(phase.ms.size(), 10u);
        sum += phase.ms[3];
    }
    EXPECT_DOUBLE_EQ(sum, 10);
    EXPECT_EQ(phases.back().name, "data and other");
    EXPECT_DOUBLE_EQ(phases.back().ms[0], 1);
}

TEST(Phases, LeaveOutWhatWasNotMeasured) {
    StepRecord step;
    step.step_ms = 5;
    step.forward_ms = 7;  // more than the step: clocks differ
    const auto phases = phases_of({step});
    ASSERT_EQ(phases.size(), 2u);
    EXPECT_EQ(phases[0].name, "forward");
    EXPECT_DOUBLE_EQ(phases[1].ms[0], 0);
    EXPECT_TRUE(phases_of({StepRecord{}}).empty());
}

TEST(Phases, ExposedShareIsOverTheTime) {
    StepRecord fast = test::sample_step(1);
    StepRecord slow = test::sample_step(2);
    slow.step_ms = 90;
    slow.exposed_communication_ms = 19;
    StepRecord unknown;
    EXPECT_DOUBLE_EQ(exposed_share({fast, slow, unknown}), 0.2);
    EXPECT_TRUE(std::isnan(exposed_share({unknown})));
}

TEST(Phases, GroupMeansCoverAllValuesOnce) {
    EXPECT_EQ(group_means({1, 3, 5, 7}, 2), (std::vector<double>{2, 6}));
    EXPECT_EQ(group_means({1, 3}, 5), (std::vector<double>{1, 3}));
    EXPECT_TRUE(group_means({}, 5).empty());
}

}  // namespace
}  // namespace mastic::report
