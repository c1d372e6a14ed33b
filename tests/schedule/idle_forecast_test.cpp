#include <mastic/schedule/idle_forecast.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mastic/core/random.hpp>

#include "schedule/recorded_slurm.hpp"

namespace mastic::schedule {
namespace {

using testing::ElementsAre;

const TimePoint now = std::chrono::system_clock::from_time_t(1'800'000'000);

TimePoint in(int minutes) {
    return now + std::chrono::minutes(minutes);
}

ClusterNode idle_node(const std::string& name, std::vector<std::string> partitions = {"p"}) {
    return {name, "idle", std::move(partitions), 8, 1000, 2, true, "", false};
}

ClusterNode busy_node(const std::string& name) {
    return {name, "allocated", {"p"}, 8, 1000, 2, false, "allocated", false};
}

QueuedJob waiting_job(const std::string& id, std::int64_t nodes = 1) {
    QueuedJob job;
    job.id = id;
    job.partitions = {"p"};
    job.reason = "Priority";
    job.nodes = nodes;
    return job;
}

QueuedJob planned_job(const std::string& id, int minutes, std::vector<std::string> nodes = {}) {
    QueuedJob job = waiting_job(id, std::max<std::int64_t>(1, std::ssize(nodes)));
    job.planned_start = in(minutes);
    job.planned_nodes = std::move(nodes);
    return job;
}

// n1 to n3 idle, n4 and n5 taken for 10 and 20 minutes.
ClusterView small_view() {
    ClusterView view;
    view.time = now;
    view.nodes = {idle_node("n1"), idle_node("n2"), idle_node("n3"), busy_node("n4"), busy_node("n5")};
    view.running = {{"1", "u", "p", "a", {"n4"}, in(10)}, {"2", "u", "p", "b", {"n5"}, in(20)}};
    return view;
}

// "n1 10 REASON", in minutes.
std::vector<std::string> told(const ClusterView& view, const ForecastOptions& options = {}) {
    std::vector<std::string> lines;
    for (const NodeForecast& node : forecast_idle(view, options)) {
        const auto left =
            node.until
                ? std::to_string(
                      std::chrono::duration_cast<std::chrono::minutes>(*node.until - view.time).count())
                : "-";
        lines.push_back(node.node + " " + left + " " + node.reason);
    }
    return lines;
}

TEST(IdleForecast, OfARecordedCluster) {
    EXPECT_THAT(told(test::recorded_view()), ElementsAre("n9 18 job 5 is planned there"));
    // Job 13 is ours: its node counts as idle, and is given back to the same job.
    EXPECT_THAT(told(test::recorded_view(), {{"13"}, ""}),
                ElementsAre("n11 18 job 5 is planned there", "n9 18 job 5 is planned there"));
    EXPECT_THAT(told(test::recorded_view(), {{"13"}, "another"}), ElementsAre());
}

TEST(IdleForecast, NobodyAsks) {
    EXPECT_THAT(told(small_view()),
                ElementsAre("n1 - nobody asks for it", "n2 - nobody asks for it", "n3 - nobody asks for it"));
}

TEST(IdleForecast, APlanThatNamesItsNodesLeavesTheOthers) {
    ClusterView view = small_view();
    view.pending = {planned_job("7", 10, {"n2", "n4"})};
    view.reservations = {{"maint", in(30), in(60), {"n2", "n3"}}};
    EXPECT_THAT(told(view), ElementsAre("n1 - nobody asks for it", "n2 10 job 7 is planned there",
                                        "n3 30 reservation maint begins"));
}

TEST(IdleForecast, APlanWithoutNodesMayTakeAnyThatFits) {
    ClusterView view = small_view();
    view.nodes[2].gpus = 0;
    view.pending = {planned_job("7", 10), planned_job("8", 5, {"n3"})};
    view.pending[0].gpus = 1;
    view.pending[0].excluded = {"n2"};
    const std::vector<NodeForecast> nodes = forecast_idle(view);
    EXPECT_THAT(told(view), ElementsAre("n1 10 job 7 is planned then, and may take it",
                                        "n2 - nobody asks for it", "n3 5 job 8 is planned there"));
    EXPECT_FALSE(nodes[0].named_until);
    EXPECT_EQ(nodes[2].named_until, in(5));
}

TEST(IdleForecast, OtherTasksOfAnArrayMayComeWithTheFirst) {
    ClusterView view = small_view();
    view.pending = {planned_job("7_[1-3]", 10, {"n1"})};
    EXPECT_EQ(told(view)[1], "n2 10 more tasks of job 7_[1-3] may take it");
}

TEST(IdleForecast, AJobWithoutPlanComesNotBeforeItsShadowTime) {
    ClusterView view = small_view();
    view.pending = {waiting_job("7", 5)};
    EXPECT_EQ(told(view)[0], "n1 20 enough nodes for job 7 are free then");
    view.pending[0].nodes = 6;  // never enough
    EXPECT_EQ(told(view)[0], "n1 - nobody asks for it");
    view.pending[0].nodes = 4;
    view.running[0].end.reset();  // has no limit
    EXPECT_EQ(told(view)[0], "n1 20 enough nodes for job 7 are free then");
    view.pending[0].nodes = 3;  // could start now
    EXPECT_EQ(told(view)[0], "n1 - waiting jobs may take it at any moment");
    EXPECT_EQ(forecast_idle(view)[0].may_go_now, 1);
    view.pending[0].reason = "Dependency";
    EXPECT_EQ(told(view)[0], "n1 - nobody asks for it");
}

std::vector<std::string> wanted_nodes(const ClusterView& view, const ForecastOptions& options = {}) {
    std::vector<std::string> names;
    for (const NodeForecast& node : forecast_idle(view, options)) {
        if (node.wanted) {
            names.push_back(node.node);
        }
    }
    return names;
}

TEST(IdleForecast, JobsThatMayGoNowWantAsManyNodesAsTheyAskFor) {
    ClusterView view = small_view();
    view.pending = {waiting_job("7", 2)};
    EXPECT_THAT(wanted_nodes(view), ElementsAre("n1", "n2"));
    view.pending.push_back(planned_job("8", 0, {"n1"}));  // Slurm waits until those that it preempts have ended
    EXPECT_THAT(wanted_nodes(view), ElementsAre("n1", "n2", "n3"));
    ForecastOptions options;
    options.believed = [](const QueuedJob& job) { return job.id == "8"; };
    EXPECT_THAT(wanted_nodes(view, options), ElementsAre("n1"));
    options.believed = [](const QueuedJob&) { return false; };
    EXPECT_EQ(forecast_idle(view, options).front().until, std::nullopt) << "nor does its plan count, which never comes true";
    view.pending = {planned_job("9", 5, {"n1"})};
    EXPECT_THAT(wanted_nodes(view), ElementsAre()) << "not now";
    view.pending = {planned_job("9", 0, {"n3", "n4", "n5"})};
    view.pending[0].planned_start = now + std::chrono::seconds(2);  // Slurm rounds up
    EXPECT_THAT(wanted_nodes(view), ElementsAre("n1")) << "others leave n4 and n5";
}

TEST(IdleForecast, JobsOfOneNodeShareTheNodeThatIsKeptForThem) {
    ClusterView view = small_view();  // nodes of 8 cores
    for (int id = 10; id < 17; ++id) {
        view.pending.push_back(waiting_job(std::to_string(id), 1));
    }
    EXPECT_THAT(wanted_nodes(view), ElementsAre("n1"));
    view.pending.front().cpus = 2;
    EXPECT_THAT(wanted_nodes(view), ElementsAre("n1"));
    view.pending.front().cpus = 3;
    EXPECT_THAT(wanted_nodes(view), ElementsAre("n1", "n2"));
}

TEST(IdleForecast, WantsFirstWhatCostsUsLeast) {
    ClusterView view = small_view();
    QueuedJob own = waiting_job("100", 1);
    own.required = {"n1"};
    view.pending = {own, waiting_job("7", 2)};
    ForecastOptions options;
    options.own_jobs = {"1", "100"};
    EXPECT_THAT(wanted_nodes(view, options), ElementsAre("n2", "n3"));
    view.pending[1].nodes = 3;
    EXPECT_THAT(wanted_nodes(view, options), ElementsAre("n1", "n2", "n3")) << "a job that waits before one that runs";
    view.running[1].nodes = {"n5"};
    view.running.push_back({"101", "u", "p", "a", {"n2"}, in(10)});
    view.nodes[1].state = "allocated";
    view.nodes[1].idle = false;
    options.own_jobs.insert("101");
    options.young_jobs = {"101"};
    EXPECT_THAT(wanted_nodes(view, options), ElementsAre("n1", "n2", "n3")) << "the youngest of those that run";
    options.leaving_jobs = {"101"};
    view.pending[1].nodes = 2;
    EXPECT_THAT(wanted_nodes(view, options), ElementsAre("n2", "n3")) << "what is left already";
}

TEST(IdleForecast, AJobThatNamesItsNodesTakesNoOthers) {
    ClusterView view = small_view();
    view.pending = {planned_job("7", 10)};
    view.pending[0].required = {"n3"};
    EXPECT_THAT(told(view), ElementsAre("n1 - nobody asks for it", "n2 - nobody asks for it",
                                        "n3 10 job 7 is planned then, and may take it"));
}

TEST(IdleForecast, APlanThatIsLateIsNow) {
    ClusterView view = small_view();
    view.pending = {planned_job("7", -3, {"n1"})};
    EXPECT_EQ(forecast_idle(view)[0].until, now);
}

TEST(IdleForecast, OwnJobsNeitherTakeNorAsk) {
    ClusterView view = small_view();
    view.pending = {planned_job("7", 10)};
    EXPECT_THAT(told(view, {{"1", "7"}, "p"}),
                ElementsAre("n1 - nobody asks for it", "n2 - nobody asks for it", "n3 - nobody asks for it",
                            "n4 - nobody asks for it"));
    EXPECT_EQ(forecast_idle(view, {{"1"}, ""})[3].held_by, "1");
    view.running.push_back({"3", "u", "p", "c", {"n4"}, in(10)});  // shares the node with ours
    EXPECT_EQ(told(view, {{"1"}, ""}).size(), 3u);
    view.running.pop_back();
    view.nodes[3].state = "draining";
    EXPECT_EQ(told(view, {{"1"}, ""}).size(), 3u);
}

TEST(IdleForecast, MeanOfWhatIsLeft) {
    ClusterView view = small_view();
    EXPECT_EQ(mean_residual_s({}, now, 100), 0);
    view.pending = {planned_job("7", 1, {"n1"}), planned_job("8", 2, {"n2"})};
    EXPECT_EQ(mean_residual_s(forecast_idle(view), now, 600), (60 + 120 + 600) / 3);
}

ClusterView random_view(CounterRandom& random) {
    ClusterView view = small_view();
    for (ClusterNode& node : view.nodes) {
        node.gpus = static_cast<std::int64_t>(random.below(3));
        node.partitions =
            random.below(2) ? std::vector<std::string>{"p"} : std::vector<std::string>{"p", "q"};
    }
    for (RunningJob& job : view.running) {
        job.end = random.below(3) ? std::optional(in(static_cast<int>(random.below(60)))) : std::nullopt;
    }
    return view;
}

QueuedJob random_job(CounterRandom& random, int id) {
    QueuedJob job = waiting_job(std::to_string(id) + (random.below(4) ? "" : "_[1-2]"),
                                1 + static_cast<std::int64_t>(random.below(6)));
    job.partitions = {random.below(2) ? "p" : "q"};
    job.gpus = static_cast<std::int64_t>(random.below(3));
    job.cpus = 1 + static_cast<std::int64_t>(random.below(12));
    if (random.below(2)) {
        job.planned_start = in(static_cast<int>(random.below(90)) - 5);
    }
    for (int node = 1; node <= 5; ++node) {
        auto& list = random.below(2) ? job.planned_nodes : random.below(2) ? job.excluded : job.required;
        if (!random.below(4)) {
            list.push_back("n" + std::to_string(node));
        }
    }
    return job;
}

TEST(IdleForecast, IsNeverBeyondAKnownStartAndNeverLongerForOneMoreJob) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        CounterRandom random(seed);
        ClusterView view = random_view(random);
        std::vector<NodeForecast> before = forecast_idle(view);
        ASSERT_EQ(before.size(), 3u);
        for (int id = 10; id < 16; ++id) {
            if (random.below(4)) {
                view.pending.push_back(random_job(random, id));
            } else {
                view.reservations.push_back(
                    {"r", in(1 + static_cast<int>(random.below(90))), in(999), {"n1", "n3"}});
            }
            const std::vector<NodeForecast> after = forecast_idle(view);
            for (std::size_t i = 0; i < after.size(); ++i) {
                const TimePoint until = after[i].until.value_or(TimePoint::max());
                ASSERT_LE(until, before[i].until.value_or(TimePoint::max())) << "seed " << seed;
                ASSERT_LE(until, after[i].named_until.value_or(TimePoint::max())) << "seed " << seed;
                ASSERT_GE(after[i].may_go_now, before[i].may_go_now) << "seed " << seed;
                ASSERT_GE(until, now) << "seed " << seed;
                for (const QueuedJob& job : view.pending) {
                    if (job.planned_start &&
                        std::ranges::find(job.planned_nodes, after[i].node) != job.planned_nodes.end()) {
                        ASSERT_LE(until, std::max(now, *job.planned_start)) << "seed " << seed;
                    }
                }
            }
            before = after;
        }
    }
}

}  // namespace
}  // namespace mastic::schedule
