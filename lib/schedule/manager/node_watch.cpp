#include <mastic/schedule/manager/node_watch.hpp>

#include <algorithm>
#include <limits>

namespace mastic::schedule {
namespace {

constexpr double remembered_s = 86'400;
// A job that could start and does not, for so long, waits for something that a view does not show.
constexpr double believed_to_want_s = 60;

}  // namespace

NodeWatch::Change NodeWatch::update(const ClusterView& view, const std::set<std::string>& own_jobs,
                                    const std::string& partition, double now_s) {
    Change change;
    std::map<std::string, UsableNode> present;
    std::map<std::string, double> wanted_since;
    for (const NodeForecast& node : forecast_idle(view, {own_jobs, partition})) {
        const auto known = nodes_.find(node.node);
        UsableNode& usable = present[node.node];
        usable = {node.node, known == nodes_.end() ? now_s : known->second.since_s, {}, node.held_by, false};
        if (node.until) {
            usable.life = Seconds(*node.until - view.time);
        }
        if (node.may_go_now > 0 && node.held_by.empty()) {
            const auto since = wanted_since_.find(node.node);
            wanted_since[node.node] = since == wanted_since_.end() ? now_s : since->second;
            usable.wanted = now_s - wanted_since[node.node] < believed_to_want_s;
        }
        if (known == nodes_.end()) {
            change.idle.push_back(node.node);
            note(node.node, now_s, true);
        }
    }
    for (const auto& [name, node] : nodes_) {
        if (!present.contains(name)) {
            change.taken.push_back(name);
            lifetimes_.add(std::max(0.0, now_s - node.since_s));
            note(name, now_s, false);
        }
    }
    nodes_ = std::move(present);
    wanted_since_ = std::move(wanted_since);
    std::erase_if(events_, [&](const NodeEvent& event) { return event.time < now_s - remembered_s; });
    return change;
}

void NodeWatch::was_idle(const std::string& node, double since_s) {
    if (nodes_.try_emplace(node, UsableNode{node, since_s, {}, "", false}).second) {
        note(node, since_s, true);
    }
}

void NodeWatch::was_taken(const std::string& node, double at_s) {
    if (const auto known = nodes_.find(node); known != nodes_.end()) {
        lifetimes_.add(std::max(0.0, at_s - known->second.since_s));
        note(node, at_s, false);
        nodes_.erase(known);
    }
}

double NodeWatch::residual_life_s(double now_s) const {
    double sum = 0;
    for (const auto& [name, node] : nodes_) {
        const double planned = node.life ? node.life->count() : std::numeric_limits<double>::infinity();
        sum += std::min(planned, lifetimes_.expected_residual_s(std::max(0.0, now_s - node.since_s)));
    }
    return nodes_.empty() ? 0 : sum / static_cast<double>(nodes_.size());
}

int NodeWatch::number(const std::string& node) {
    const auto [found, added] = numbers_.emplace(node, static_cast<int>(names_.size()));
    if (added) {
        names_.push_back(node);
    }
    return found->second;
}

void NodeWatch::note(const std::string& node, double at_s, bool idle) {
    events_.push_back({at_s, number(node), idle});
}

// Nodes whose beginning has been forgotten were idle all the time.
IdleTrace NodeWatch::trace(double from_s, double now_s) const {
    IdleTrace trace;
    std::vector<bool> seen(names_.size());
    for (const NodeEvent& event : events_) {
        const auto at = static_cast<std::size_t>(event.node);
        if (!seen[at] && !event.idle) {
            trace.events.push_back({0, event.node, true});
        }
        seen[at] = true;
        trace.events.push_back({std::max(0.0, event.time - from_s), event.node, event.idle});
    }
    for (const auto& [name, node] : nodes_) {
        if (const auto number = numbers_.find(name);
            number != numbers_.end() && !seen[static_cast<std::size_t>(number->second)]) {
            trace.events.push_back({0, number->second, true});
        }
    }
    std::ranges::stable_sort(trace.events, {}, &NodeEvent::time);
    trace.nodes = static_cast<int>(names_.size());
    trace.end = now_s - from_s;
    return trace;
}

}  // namespace mastic::schedule
