// Replays a log of idle nodes with malleable trainings and a policy: a discrete-event simulation.
//
// Definitions. Work and progress are counted in node-seconds of one node: a training on n nodes makes
// rate(n) / rate(1) of progress a second. Given: the node-seconds that nodes were idle. Each of them is one of
// computing, paused (the training stands still because its nodes change), starting (given to a training, not computing
// yet) or unused; wasted are the last three.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <mastic/schedule/idle_trace.hpp>
#include <mastic/schedule/policy.hpp>
#include <mastic/schedule/workload.hpp>

namespace mastic::schedule {

struct NodeSeconds {
    double given = 0;
    double computing = 0;
    double paused = 0;
    double starting = 0;
    double unused = 0;

    double wasted() const { return paused + starting + unused; }
};

// What a node did, for the pictures.
struct NodeSpan {
    enum class Kind { computing, starting, unused };
    int node = 0;
    double begin = 0;
    double end = 0;
    Kind kind = Kind::unused;
    JobId job = -1;
};

struct ReplaySample {
    double time = 0;
    double progress = 0;
    int idle = 0;
    int held = 0;  // by trainings
};

struct ReplayResult {
    double progress = 0;
    NodeSeconds nodes;
    long rescales = 0;    // decided
    long departures = 0;  // trainings that lost nodes
    long finished = 0;    // trainings
    long decisions = 0;
    long kept = 0;  // decisions that failed, so that the map stayed
    std::vector<ReplaySample> samples;
    std::vector<NodeSpan> spans;  // of the watched nodes
};

struct DecisionRecord {
    double time;
    JobId job;
    int from;
    int to;
    std::string reason;
};

struct ReplayOptions {
    RescaleCosts costs;
    double sample_every_s = 3600;
    double learn_every_s = 86'400;  // the policy is offered this much of the log so far; 0: never
    double watch_from_s = 0;        // spans are recorded of these nodes, within this time
    double watch_to_s = 0;
    std::vector<int> watched;                                // ascending
    std::function<void(const DecisionRecord&)> on_decision;  // of each change
};

ReplayResult replay(const IdleTrace& trace, const Workload& workload, const PolicyKind& kind, Policy& policy,
                    const ReplayOptions& options);

}  // namespace mastic::schedule
