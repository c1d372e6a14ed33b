#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/schedule/manager/budget.hpp>

namespace mastic::schedule {
namespace {

using testing::HasSubstr;

constexpr double hour = 3600;

PilotsNow with_others(int jobs) {
    PilotsNow now;
    now.other_jobs = jobs;
    return now;
}

PilotsNow looked_at_every(double round_s) {
    PilotsNow now;
    now.round_s = round_s;
    return now;
}

TEST(Budget, WithoutLimitsAllIsAllowed) {
    EXPECT_GT(allowance({}, {}, {}, {}).pilots, 1'000'000);
    EXPECT_EQ(allowance({}, {}, {}, {}).reason, "");
}

TEST(Budget, TheSmallestLimitCounts) {
    BudgetOptions options;
    options.most_pilots = 10;
    EXPECT_EQ(allowance(options, {}, {}, {}).pilots, 10);
    EXPECT_EQ(allowance(options, {}, {}, {}).reason, "budget.most_pilots");
    QosLimits qos;
    qos.jobs = 8;
    qos.submitted = 20;
    EXPECT_EQ(allowance(options, {}, qos, with_others(3)).pilots, 5);  // three other jobs of the user
    EXPECT_EQ(allowance(options, {}, qos, with_others(3)).reason, "the QOS allows 8 running jobs");
    EXPECT_EQ(allowance(options, {}, qos, with_others(9)).pilots, 0);
}

TEST(Budget, NodeHoursEndBeforeTheyAreOverdrawn) {
    BudgetOptions options;
    options.node_hours = 100;
    BudgetUse use;
    use.node_seconds = 99 * hour;
    EXPECT_EQ(allowance(options, use, {}, looked_at_every(36)).pilots, 54);  // each until the next look, and 30 s to leave
    EXPECT_EQ(allowance(options, use, {}, looked_at_every(36)).reason, "99 of 100 node-hours are used");
    use.node_seconds = 100 * hour - 70;  // for one more of one pilot
    EXPECT_EQ(allowance(options, use, {}, looked_at_every(36)).pilots, 1);
    use.node_seconds = 101 * hour;
    EXPECT_EQ(allowance(options, use, {}, looked_at_every(36)).pilots, 0);
}

TEST(Budget, SaysSmallNumbersTooWithTheDigitsThatMatter) {
    BudgetOptions options;
    options.node_hours = 0.03;
    BudgetUse use;
    use.node_seconds = 0.0287 * hour;
    EXPECT_EQ(allowance(options, use, {}, {}).reason, "0.0287 of 0.03 node-hours are used");
    options.node_hours = 20'000;
    use.node_seconds = 12'345.67 * hour;
    EXPECT_EQ(allowance(options, use, {}, {}).reason, "12,346 of 20,000 node-hours are used");
}

// Pilots that are told to go at the first look at which they are too many never use more than was granted.
TEST(Budget, IsNeverExceededByPilotsThatObey) {
    BudgetOptions options;
    options.node_hours = 10;
    BudgetUse use;
    PilotsNow now;
    now.pilots = 64;
    now.leaving_s = 5;
    for (double time = 0; now.pilots > 0; time += now.round_s) {
        use.charge(now.pilots * now.round_s, time);
        const int allowed = allowance(options, use, {}, now).pilots;
        if (allowed < now.pilots) {
            use.charge((now.pilots - allowed) * now.leaving_s, time);
            now.pilots = allowed;
        }
    }
    EXPECT_LE(use.node_seconds, options.node_hours * hour);
    EXPECT_GT(use.node_seconds, 0.95 * options.node_hours * hour);
}

TEST(Budget, WhatIsStartedCanAlsoLeaveWithinIt) {
    BudgetOptions options;
    options.node_hours = 0.02;
    BudgetUse use;
    PilotsNow now;
    now.round_s = 1;
    now.leaving_s = 10;
    for (double time = 0; time < 200; time += now.round_s) {
        const int allowed = allowance(options, use, {}, now).pilots;
        if (allowed < now.pilots) {
            use.charge((now.pilots - allowed) * now.leaving_s, time);
        }
        now.pilots = std::min(allowed, 16);  // nodes are free, so new ones come at once
        use.charge(now.pilots * now.round_s, time);
    }
    EXPECT_LE(use.node_seconds, options.node_hours * hour);
    EXPECT_GT(use.node_seconds, 0.5 * options.node_hours * hour);
}

TEST(Budget, AClockThatWasAheadDoesNotCountForDays) {
    BudgetUse use;
    use.charge(100, 20 * 86'400.0);
    use.charge(7, 10 * 86'400.0);
    EXPECT_EQ(use.node_seconds_today, 7);
}

TEST(Budget, ADayEndsAtMidnight) {
    BudgetUse use;
    use.charge(100, 86'400 + 10);
    use.charge(50, 86'400 + 20);
    EXPECT_EQ(use.node_seconds_today, 150);
    use.charge(7, 2 * 86'400 + 1);
    EXPECT_EQ(use.node_seconds_today, 7);
    EXPECT_EQ(use.node_seconds, 157);
    BudgetOptions options;
    options.node_hours_per_day = 1;
    use.node_seconds_today = hour;
    EXPECT_EQ(allowance(options, use, {}, {}).pilots, 0);
    EXPECT_THAT(allowance(options, use, {}, {}).reason, HasSubstr("today"));
}

TEST(Qos, LimitsAreReadFromSacctmgr) {
    const QosLimits limits = parse_qos_limits("low|10|20|cpu=64,node=5|100||node=4\n");
    EXPECT_EQ(limits.jobs, 10);
    EXPECT_EQ(limits.submitted, 20);
    EXPECT_EQ(limits.nodes, 4);
    const QosLimits none = parse_qos_limits("low||||||\n");
    EXPECT_FALSE(none.jobs || none.submitted || none.nodes);
    EXPECT_FALSE(parse_qos_limits("").jobs);
    EXPECT_FALSE(parse_qos_limits("error\n").jobs);
}

TEST(Qos, WithoutAccountingNothingIsKnown) {
    std::string problem;
    const CommandRunner broken = [](const std::vector<std::string>& argv, Seconds) {
        EXPECT_EQ(argv[0], "sacctmgr");
        return CommandResult{1, "", "sacctmgr: error: no slurmdbd\nmore\n"};
    };
    EXPECT_FALSE(ask_qos_limits("low", broken, problem).jobs);
    EXPECT_EQ(problem, "the limits of QOS low are not known: sacctmgr: error: no slurmdbd");
    problem.clear();
    const CommandRunner good = [](const std::vector<std::string>&, Seconds) {
        return CommandResult{0, "low|3|||||\n", ""};
    };
    EXPECT_EQ(ask_qos_limits("low", good, problem).jobs, 3);
    EXPECT_EQ(problem, "");
}

}  // namespace
}  // namespace mastic::schedule
