// When which nodes were idle: what a replay runs on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/schedule/log_text.hpp>

namespace mastic::schedule {

inline constexpr int most_nodes = 1'000'000;  // of a machine; more is a damaged log

struct NodeEvent {
    double time = 0;    // seconds from the trace's beginning
    int node = 0;       // from 0
    bool idle = false;  // becomes idle; false: is taken
};

struct IdleTrace {
    std::vector<NodeEvent> events;  // by time; of a node alternating, idle first
    int nodes = 0;                  // larger than each node of the events
    double end = 0;                 // seconds; no event is later

    // The part [from, to), moved to 0. Nodes that are idle at `from` become so at 0.
    IdleTrace slice(double from, double to) const;
    // The events of nodes 0 to count - 1 only: a smaller machine.
    IdleTrace first_nodes(int count) const;
    double idle_node_seconds() const;
};

// CSV with the header time_s,node,delta (in any order of columns; others are ignored): seconds, node number from 0, 1
// where the node becomes idle, -1 where it is taken. `#` starts a comment. A row that cannot be right (no number, a
// node that is idle twice, a time before that of the row above) goes to `odd` and is left out. Nodes are idle from
// their first event on only. Throws Error(data) if there is no such header or no event.
IdleTrace parse_idle_csv(std::string_view text, OddRows& odd);
std::string to_idle_csv(const IdleTrace& trace);

}  // namespace mastic::schedule
