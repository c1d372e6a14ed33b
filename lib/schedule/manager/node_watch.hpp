// Which nodes trainings may use, and since when: learned from one view after the other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mastic/schedule/idle_forecast.hpp>
#include <mastic/schedule/idle_trace.hpp>
#include <mastic/schedule/lifetimes.hpp>
#include <mastic/schedule/node_pool.hpp>

namespace mastic::schedule {

struct UsableNode {
    std::string name;
    double since_s = 0;           // idle, or held by a pilot
    std::optional<Seconds> life;  // until it is taken, by Slurm's plan
    std::string held_by;          // a pilot's job
    bool wanted = false;          // a job that Slurm has not looked at yet may take it at any moment
};

class NodeWatch {
  public:
    struct Change {
        std::vector<std::string> idle;
        std::vector<std::string> taken;
    };

    // `own_jobs`: the pilots'.
    Change update(const ClusterView& view, const std::set<std::string>& own_jobs,
                  const std::string& partition, double now_s);
    // From the log of an earlier manager, before the first update.
    void was_idle(const std::string& node, double since_s);
    void was_taken(const std::string& node, double at_s);

    const std::map<std::string, UsableNode>& nodes() const { return nodes_; }
    // Mean over the nodes: what Slurm plans, and what earlier nodes of that age had left.
    double residual_life_s(double now_s) const;

    // Names as the numbers that NodePool and IdleTrace count by.
    int number(const std::string& node);
    const std::string& name(int number) const { return names_.at(static_cast<std::size_t>(number)); }
    // What happened from `from_s` on, for tuning; moved to 0.
    IdleTrace trace(double from_s, double now_s) const;

  private:
    void note(const std::string& node, double at_s, bool idle);

    std::map<std::string, UsableNode> nodes_;
    std::map<std::string, double> wanted_since_;
    Lifetimes lifetimes_;
    std::map<std::string, int> numbers_;
    std::vector<std::string> names_;
    std::vector<NodeEvent> events_;  // of the last day; times as the caller's
};

}  // namespace mastic::schedule
