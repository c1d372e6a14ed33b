// The view of a real Slurm of 60 nodes, and whether its idle nodes stay idle as long as forecast.
#include <gmock/gmock.h>

#include <mastic/schedule/idle_forecast.hpp>
#include <mastic/schedule/slurm_poller.hpp>

#include "cluster/slurm_cluster.hpp"

namespace mastic::test {
namespace {

using schedule::ClusterView;
using schedule::NodeForecast;
using schedule::TimePoint;
using testing::HasSubstr;

constexpr int nodes = 60;
constexpr const char* sleeps = "#!/bin/sh\nsleep 600\n";

ClusterEnvironment* const environment =
    ClusterEnvironment::add({.nodes = nodes, .settings = {"KillWait=2", "MessageTimeout=5"}});

class View : public testing::Test {
  protected:
    ClusterView look() const {
        return schedule::ask_slurm(cluster.runner(), std::chrono::system_clock::now());
    }
    SlurmCluster& cluster = environment->cluster();
};

const NodeForecast& of(const std::vector<NodeForecast>& forecast, const std::string& node) {
    return *std::ranges::find(forecast, node, &NodeForecast::node);
}

TEST_F(View, IdleNodesStayIdleAsLongAsForecast) {
    cluster.output_of({"scontrol", "update", "nodename=n60", "state=drain", "reason=test"});
    cluster.output_of({"scontrol", "create", "reservation", "reservationname=maint",
                       "starttime=now+80seconds", "duration=10", "nodes=n59", "users=root"});
    cluster.submit(sleeps, {"-N40", "--exclusive", "-t1"});
    const std::string big = cluster.submit(sleeps, {"-N50", "--exclusive", "-t30"});
    cluster.submit(sleeps, {"-N1", "--exclusive", "-t30", "--hold"});

    ClusterView first;
    const auto planned = [&] {
        first = look();
        const auto job = std::ranges::find(first.pending, big, &schedule::QueuedJob::id);
        return job != first.pending.end() && job->planned_nodes.size() == 50;
    };
    ASSERT_TRUE(wait_until(planned, Seconds(30))) << cluster.run({"squeue", "--start"}).output;
    EXPECT_EQ(first.odd_rows, 0u) << first.odd_text;
    EXPECT_EQ(first.find("n60")->why_not, "drained: test");
    const std::vector<NodeForecast> forecast = forecast_idle(first);
    ASSERT_EQ(forecast.size(), 19u);
    EXPECT_THAT(of(forecast, "n59").reason, HasSubstr("reservation maint begins"));
    EXPECT_EQ(std::ranges::count(forecast, "job " + big + " is planned there", &NodeForecast::reason), 10);
    EXPECT_EQ(std::ranges::count(forecast, "nobody asks for it", &NodeForecast::reason), 8);

    std::map<std::string, TimePoint> taken;
    const auto all_taken = [&] {
        const ClusterView view = look();
        for (const NodeForecast& node : forecast) {
            if (!view.find(node.node)->idle) {
                taken.emplace(node.node, view.time);
            }
        }
        return taken.size() >= 11;
    };
    EXPECT_TRUE(wait_until(all_taken, Seconds(180)));
    constexpr std::chrono::seconds interval(10);  // what a manager sees is that old
    for (const NodeForecast& node : forecast) {
        ASSERT_EQ(node.until.has_value(), taken.contains(node.node)) << node.node << ": " << node.reason;
        if (node.until) {
            EXPECT_GE(taken[node.node], *node.until - interval) << node.node << ": " << node.reason;
            EXPECT_LE(taken[node.node], *node.until + 6 * interval) << node.node << ": " << node.reason;
            RecordProperty("late_s_" + node.node,
                           std::to_string(Seconds(taken[node.node] - *node.until).count()));
        }
    }
    cluster.output_of({"scontrol", "delete", "reservation=maint"});
    cluster.output_of({"scontrol", "update", "nodename=n60", "state=resume"});
    cluster.clear();
}

TEST_F(View, APollerKeepsItsViewWhileTheControllerIsOutOfReach) {
    schedule::SlurmPoller poller(cluster.runner("n1"),
                                 {.interval = Seconds(0.1), .share = 1, .patience = Seconds(3)});
    ASSERT_TRUE(wait_until([&] { return poller.poll(); }, Seconds(60))) << poller.problem();
    EXPECT_EQ(poller.view()->nodes.size(), static_cast<std::size_t>(nodes));
    cluster.cut("n1");
    EXPECT_TRUE(wait_until([&] { return !poller.poll() && !poller.problem().empty(); }, Seconds(60)));
    EXPECT_THAT(poller.problem(), HasSubstr("squeue"));
    EXPECT_NE(poller.view(), nullptr);
    cluster.heal("n1");
    EXPECT_TRUE(wait_until([&] { return poller.poll(); }, Seconds(60))) << poller.problem();
    EXPECT_EQ(poller.problem(), "");
    cluster.clear();
}

}  // namespace
}  // namespace mastic::test
