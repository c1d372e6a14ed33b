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
    std::string name = {};
    double since_s = 0;                // idle, or held by a pilot
    std::optional<Seconds> life = {};  // until it is taken, by Slurm's plan
    std::string held_by = {};          // a pilot's job
    bool wanted = false;          // one of as many nodes as others ask for that may start at any moment
    double kept_since_s = 0;      // by Slurm, for a job that does not start; 0: it is not
    bool kept = false;            // it is, and no pilot is to try whether it may start there nevertheless
};

class NodeWatch {
  public:
    struct Change {
        std::vector<std::string> idle;
        std::vector<std::string> taken;
    };

    struct OwnJobs {
        std::set<std::string> all = {};
        std::set<std::string> leaving = {};
        std::set<std::string> young = {};  // that the view shows running for the first time
    };
    Change update(const ClusterView& view, const OwnJobs& pilots, const std::string& partition, double now_s);
    // Slurm takes nodes back: jobs of others that have been waiting in vain may start now. Each kind is believed again after some
    // minutes at the earliest, so that one that never starts does not keep nodes free whenever another one does.
    void others_may_start(double now_s);
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
    void note_who_has_gone(const ClusterView& view, double now_s);
    void note_what_is_kept(const ClusterView& view, UsableNode& node, double now_s) const;
    void note(const std::string& node, double at_s, bool idle);

    std::map<std::string, UsableNode> nodes_;
    // Jobs of others that could start, of those that ask for the same: a stream of them that never start is believed no longer
    // than one.
    struct DueJobs {
        double since_s = 0;  // when one of them became due, after the last one had gone from the queue
        double last_s = 0;   // when one of them was due last
        std::set<std::string> ids{};
    };
    std::map<std::string, DueJobs> due_;  // by what they ask for
    double last_update_s_ = 0;
    Lifetimes lifetimes_;
    std::map<std::string, int> numbers_;
    std::vector<std::string> names_;
    std::vector<NodeEvent> events_;  // of the last day; times as the caller's
};

}  // namespace mastic::schedule
