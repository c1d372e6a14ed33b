// What really happened, from events.jsonl, in the terms of a replay: so a manager and a simulation are shown alike.
//
// Given are the node-seconds between node_idle and node_taken, and those in which a pilot ran. A pilot starts from
// pilot_started to pilot_joined, and computes from there until it leaves or ends. Progress counts in node-seconds of one node:
// the samples of a training / its samples/s per node at the fewest nodes at which it was measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <mastic/schedule/idle_trace.hpp>
#include <mastic/schedule/manager/event_log.hpp>
#include <mastic/schedule/replay.hpp>

namespace mastic::schedule {

struct LiveHistory {
    double begin_s = 0;  // of the first event; seconds since 1970. All other times count from here
    IdleTrace trace;
    ReplayResult result;
    std::vector<std::string> nodes;  // names by number
    std::vector<std::string> jobs;   // ids of trainings by number
};

// Until `now_s`. `shown_nodes`: so many, those that were filled the longest, have spans.
LiveHistory live_history(const std::vector<Event>& events, double now_s, std::size_t shown_nodes);

}  // namespace mastic::schedule
