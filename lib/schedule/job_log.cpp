#include <mastic/schedule/job_log.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <mastic/core/error.hpp>

namespace mastic::schedule {
namespace {

// A change of the number of nodes in use.
struct Change {
    double time;
    bool begins;
    std::size_t job;
};

std::vector<Change> changes_of(const JobLog& log) {
    std::vector<Change> changes;
    for (std::size_t j = 0; j < log.jobs.size(); ++j) {
        changes.push_back({log.jobs[j].begin, true, j});
        changes.push_back({log.jobs[j].end, false, j});
    }
    // Ends first, so that a job may follow another at once.
    std::ranges::stable_sort(changes, {}, [](const Change& c) { return std::pair(c.time, c.begins); });
    return changes;
}

int most_in_use(const JobLog& log, const std::vector<Change>& changes) {
    long long used = 0;
    long long most = 0;
    for (const Change& change : changes) {
        used += change.begins ? log.jobs[change.job].nodes : -log.jobs[change.job].nodes;
        most = std::max(most, used);
    }
    return static_cast<int>(std::min<long long>(most, most_nodes));
}

class IdleNodes {
  public:
    IdleNodes(int nodes, IdleTrace& trace) : trace_(trace) {
        for (int node = 0; node < nodes; ++node) {
            give(node, 0);
        }
    }

    // As many as there are, at most `count`.
    std::vector<int> take(int count, double time) {
        std::vector<int> taken;
        while (static_cast<int>(taken.size()) < count && !idle_.empty()) {
            taken.push_back(idle_.begin()->second);
            idle_.erase(idle_.begin());
            trace_.events.push_back({time, taken.back(), false});
        }
        return taken;
    }
    void give(int node, double time) {
        idle_.insert({time, node});
        trace_.events.push_back({time, node, true});
    }

  private:
    IdleTrace& trace_;
    std::set<std::pair<double, int>> idle_;  // since, node
};

// A node that is given and taken at one moment was not idle.
void drop_empty_spans(IdleTrace& trace) {
    std::map<int, std::size_t> last;
    std::vector<bool> keep(trace.events.size(), true);
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
        const NodeEvent& event = trace.events[i];
        const auto before = last.find(event.node);
        if (!event.idle && before != last.end() && trace.events[before->second].time == event.time) {
            keep[i] = keep[before->second] = false;
            last.erase(before);
        } else {
            last[event.node] = i;
        }
    }
    std::vector<NodeEvent> events;
    for (std::size_t i = 0; i < keep.size(); ++i) {
        if (keep[i]) {
            events.push_back(trace.events[i]);
        }
    }
    trace.events = std::move(events);
}

}  // namespace

DerivedTrace idle_trace_of(const JobLog& log, int nodes) {
    const std::vector<Change> changes = changes_of(log);
    if (changes.empty()) {
        throw Error(ExitCode::data, "no job of the log ran", "is it a log of finished jobs?");
    }
    DerivedTrace derived;
    derived.most_used = most_in_use(log, changes);
    IdleTrace& trace = derived.trace;
    trace.nodes = nodes > 0 ? nodes : log.machine_nodes > 0 ? log.machine_nodes : derived.most_used;
    const double begin = changes.front().time;
    trace.end = changes.back().time - begin;
    IdleNodes idle(trace.nodes, trace);
    std::vector<std::vector<int>> held(log.jobs.size());
    for (const Change& change : changes) {
        const LoggedJob& job = log.jobs[change.job];
        const double time = change.time - begin;
        if (change.begins) {
            held[change.job] = idle.take(job.nodes, time);
            const double missing = job.nodes - static_cast<double>(held[change.job].size());
            derived.overcommitted_node_seconds += missing * (job.end - job.begin);
        } else {
            for (const int node : held[change.job]) {
                idle.give(node, time);
            }
        }
    }
    drop_empty_spans(trace);
    return derived;
}

}  // namespace mastic::schedule
