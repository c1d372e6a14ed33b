#include <mastic/schedule/manager/node_watch.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace mastic::schedule {
namespace {

constexpr double remembered_s = 86'400;
// A job that could start and does not, for so long, waits for something that a view does not show.
constexpr double believed_to_want_s = 60;
constexpr double believed_again_s = 300;
// Slurm may keep a node for such a job all the same. Whether a pilot starts there is tried so long, and so often.
constexpr double tried_s = 45;
constexpr double tried_every_s = 300;

std::string what_it_asks_for(const QueuedJob& job) {
    std::string text = job.user + " " + job.reservation;
    for (const auto* words : {&job.partitions, &job.required, &job.excluded}) {
        for (const std::string& word : *words) {
            text += " " + word;
        }
        text += " |";
    }
    for (const std::int64_t number : {job.nodes, job.cpus, job.memory_mb, job.gpus}) {
        text += " " + std::to_string(number);
    }
    return text;
}

}  // namespace

NodeWatch::Change NodeWatch::update(const ClusterView& view, const OwnJobs& pilots, const std::string& partition, double now_s) {
    Change change;
    std::map<std::string, UsableNode> present;
    note_who_has_gone(view, now_s);
    const auto believed = [&](const QueuedJob& job) {
        DueJobs& alike = due_.try_emplace(what_it_asks_for(job), DueJobs{now_s, now_s}).first->second;
        if (alike.last_s < last_update_s_ && now_s - alike.last_s >= believed_to_want_s) {  // the nodes were in use meanwhile
            alike.since_s = now_s;
        }
        alike.last_s = now_s;
        alike.ids.insert(job.id);
        return now_s - alike.since_s < believed_to_want_s;
    };
    for (const NodeForecast& node : forecast_idle(view, {pilots.all, partition, pilots.leaving, pilots.young, believed})) {
        const auto known = nodes_.find(node.node);
        UsableNode& usable = present[node.node];
        usable = {.name = node.node,
                  .since_s = known == nodes_.end() ? now_s : known->second.since_s,
                  .held_by = node.held_by,
                  .wanted = node.wanted};
        if (node.until) {
            usable.life = Seconds(*node.until - view.time);
        }
        note_what_is_kept(view, usable, now_s);
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
    last_update_s_ = now_s;
    std::erase_if(events_, [&](const NodeEvent& event) { return event.time < now_s - remembered_s; });
    return change;
}

// A pilot would wait there for its whole patience, and others behind it.
void NodeWatch::note_what_is_kept(const ClusterView& view, UsableNode& node, double now_s) const {
    const ClusterNode* now = view.find(node.name);
    if (now == nullptr || !now->planned || node.life || node.wanted || !node.held_by.empty()) {
        return;
    }
    const auto before = nodes_.find(node.name);
    const bool was_kept = before != nodes_.end() && before->second.kept_since_s > 0;
    node.kept_since_s = was_kept ? before->second.kept_since_s : now_s;
    node.kept = std::fmod(now_s - node.kept_since_s, tried_every_s) >= tried_s;
}

// Where one has gone, the next one like it may as well.
void NodeWatch::note_who_has_gone(const ClusterView& view, double now_s) {
    std::set<std::string> waiting;
    std::ranges::transform(view.pending, std::inserter(waiting, waiting.end()), &QueuedJob::id);
    for (auto& [what, jobs] : due_) {
        if (std::erase_if(jobs.ids, [&](const std::string& id) { return !waiting.contains(id); }) > 0) {
            jobs.since_s = now_s;
        }
    }
    std::erase_if(due_, [](const auto& entry) { return entry.second.ids.empty(); });
}

void NodeWatch::others_may_start(double now_s) {
    for (auto& [what, jobs] : due_) {
        if (now_s - jobs.since_s >= believed_again_s) {
            jobs.since_s = now_s;
        }
    }
}

void NodeWatch::was_idle(const std::string& node, double since_s) {
    if (nodes_.try_emplace(node, UsableNode{.name = node, .since_s = since_s}).second) {
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
