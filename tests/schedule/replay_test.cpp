#include <mastic/schedule/simulation.hpp>

#include <gtest/gtest.h>

#include <mastic/core/named.hpp>

#include "schedule/small_trace.hpp"

namespace mastic::schedule {
namespace {

using test::small_trace;

SimulationSettings small_settings(std::uint64_t seed = 1) {
    SimulationSettings settings;
    settings.workload.curves = typical_curves(16);
    settings.workload.slots = 4;
    settings.workload.most = 16;
    settings.workload.median_work = 4000;
    settings.workload.seed = seed;
    settings.learn_every_s = 7200;
    return settings;
}

const PolicyKind& kind_named(const char* name) {
    return require_named(policy_kinds(), name, "policy");
}

class Policies : public testing::TestWithParam<PolicyKind> {};

// Each idle node-second is one of computing, starting, paused and unused.
TEST_P(Policies, AccountForAllNodeSeconds) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const IdleTrace trace = small_trace(seed);
        const ReplayResult result = run_policy(trace, small_settings(seed), GetParam()).result;
        const double given = trace.idle_node_seconds();
        EXPECT_NEAR(result.nodes.given, given, 1e-9 * given);
        EXPECT_NEAR(result.nodes.computing + result.nodes.wasted(), given, 1e-9 * given);
        EXPECT_LE(result.progress, result.nodes.computing * (1 + 1e-9));  // no curve is above linear
        EXPECT_EQ(result.kept, 0);
    }
}

TEST_P(Policies, AreDeterministic) {
    const IdleTrace trace = small_trace(3);
    const ReplayResult once = run_policy(trace, small_settings(), GetParam()).result;
    const ReplayResult again = run_policy(trace, small_settings(), GetParam()).result;
    EXPECT_EQ(once.progress, again.progress);
    EXPECT_EQ(once.rescales, again.rescales);
    EXPECT_EQ(once.finished, again.finished);
}

TEST_P(Policies, KeepSizesWithinTheirLimits) {
    SimulationSettings settings = small_settings();
    settings.workload.least = 3;
    settings.workload.most = 9;
    ReplayOptions options;
    long changes = 0;
    options.on_decision = [&](const DecisionRecord& record) {
        ++changes;
        EXPECT_TRUE(record.to == 0 || (record.to >= 3 && record.to <= 9)) << record.to;
        EXPECT_FALSE(record.reason.empty());
    };
    const ReplayResult result = run_policy(small_trace(2), settings, GetParam(), options).result;
    EXPECT_EQ(changes, result.rescales);
}

INSTANTIATE_TEST_SUITE_P(All, Policies, testing::ValuesIn(policy_kinds()),
                         [](const auto& policy) { return std::string(policy.param.name); });

TEST(Replay, OracleIsTheBest) {
    std::vector<PolicyRun> runs;
    for (const PolicyKind& kind : policy_kinds()) {
        runs.push_back(run_policy(small_trace(5), small_settings(), kind));
    }
    compare_with_oracle(runs);
    for (const PolicyRun& run : runs) {
        ASSERT_TRUE(run.efficiency.has_value());
        EXPECT_LE(*run.efficiency, 1.0) << run.kind->name;
    }
    EXPECT_EQ(runs.front().efficiency, 1.0);
}

// Two nodes from 0 to 100 s, one training that scales perfectly: 18 s to start, then 2 node-seconds a second.
TEST(Replay, CountsAStartExactly) {
    IdleTrace trace{{{0, 0, true}, {0, 1, true}, {100, 0, false}, {100, 1, false}}, 2, 100};
    SimulationSettings settings = small_settings();
    settings.workload.curves = {{"linear", curve_through({{16, 16.0}})}};
    settings.workload.slots = 1;
    settings.workload.median_work = 1e6;
    const ReplayResult live = run_policy(trace, settings, kind_named("mastic")).result;
    EXPECT_DOUBLE_EQ(live.progress, 164);
    EXPECT_DOUBLE_EQ(live.nodes.starting, 36);
    const ReplayResult restarted = run_policy(trace, settings, kind_named("bftrainer")).result;
    EXPECT_DOUBLE_EQ(restarted.progress, 164);
    EXPECT_DOUBLE_EQ(restarted.nodes.paused, 36);
}

// Half of a training's nodes go at one moment: all of them are dropped, and it stands still once.
TEST(Replay, DropsAllNodesThatDepartTogether) {
    IdleTrace trace{{}, 8, 200};
    for (int node = 0; node < 8; ++node) {
        trace.events.push_back({0, node, true});
    }
    for (int node = 0; node < 4; ++node) {
        trace.events.push_back({100, node, false});
    }
    SimulationSettings settings = small_settings();
    settings.workload.curves = {{"linear", curve_through({{16, 16.0}})}};
    settings.workload.slots = 1;
    settings.workload.median_work = 1e6;
    const ReplayResult result = run_policy(trace, settings, kind_named("mastic")).result;
    EXPECT_EQ(result.departures, 1);
    EXPECT_DOUBLE_EQ(result.progress, 8 * (100 - 18) + 4 * (100 - 2));
}

TEST(Replay, SpansOfWatchedNodesCoverTheirIdleTime) {
    const IdleTrace trace = small_trace(4);
    ReplayOptions options;
    options.watched = {1, 7, 30};
    options.watch_to_s = trace.end;
    const ReplayResult result = run_policy(trace, small_settings(), kind_named("mastic"), options).result;
    double idle = 0;
    for (const NodeEvent& event : trace.events) {
        const bool watched = event.node == 1 || event.node == 7 || event.node == 30;
        idle += watched ? (event.idle ? -event.time : event.time) : 0;
    }
    double covered = 0;
    for (const NodeSpan& span : result.spans) {
        covered += span.end - span.begin;
    }
    EXPECT_GT(idle, 0);
    EXPECT_NEAR(covered, idle, 1e-6);
}

class Failing : public Policy {
  public:
    enum class How { throws, too_many, too_few, missing };
    explicit Failing(How how) : how_(how) {}
    std::vector<Target> decide(const Situation& situation) override {
        if (how_ == How::throws) {
            throw std::runtime_error("no solution in time");
        }
        std::vector<Target> targets(situation.jobs.size() - (how_ == How::missing ? 1 : 0));
        for (Target& target : targets) {
            target.nodes = how_ == How::too_many ? 16 : how_ == How::too_few ? 1 : 2;
        }
        return targets;
    }

  private:
    How how_;
};

TEST(CheckedDecision, KeepsTheMapWhenAPolicyFails) {
    const Situation situation{
        0, {{1, 2, 16, {5, {}, 0}, nullptr}, {2, 2, 16, {0, {{3, 10}}, 0}, nullptr}}, 4, 600};
    for (const auto how :
         {Failing::How::throws, Failing::How::too_many, Failing::How::too_few, Failing::How::missing}) {
        Failing policy(how);
        const std::vector<Target> targets = checked_decision(policy, situation);
        ASSERT_EQ(targets.size(), 2u);
        EXPECT_EQ(targets[0].nodes, 5);
        EXPECT_EQ(targets[1].nodes, 3);
        EXPECT_TRUE(targets[0].reason.starts_with("kept: the decision failed: ")) << targets[0].reason;
    }
}

}  // namespace
}  // namespace mastic::schedule
