// Who gets how many nodes. A policy is pure: it sees the situation and the time that it is told, and nothing else, so
// the same object decides in a replay and in a live manager.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mastic/schedule/idle_trace.hpp>
#include <mastic/schedule/rescale_cost.hpp>
#include <mastic/schedule/throughput_curve.hpp>

namespace mastic::schedule {

inline constexpr double shortest_measurement_s = 20;  // of a training's throughput at a number of nodes

using JobId = std::int64_t;

struct JobState {
    JobId id = 0;
    int least = 1;  // nodes; with fewer it stops
    int most = 64;
    JobNodes nodes;
    const ThroughputCurve* given = nullptr;  // relative to one node; only for policies that are given curves
    double weight = 1;                       // of its progress against that of the others; above 0
};

struct Situation {
    double now_s = 0;
    std::vector<JobState> jobs;
    int free = 0;                  // idle nodes that no job has
    double residual_life_s = 600;  // predicted: how much longer a node of the pool stays idle, mean

    int nodes() const;  // free ones and those of the jobs
};

struct Target {
    int nodes = 0;
    std::string reason;  // may be empty where nothing changes
};

class Policy {
  public:
    virtual ~Policy() = default;

    // The targets of all jobs, in their order. Sum at most situation.nodes(); each 0 or least to most.
    virtual std::vector<Target> decide(const Situation& situation) = 0;
    // Without any event, decide() is wanted at this time.
    virtual double next_wake_s() const { return std::numeric_limits<double>::infinity(); }
    // A steady run of a job: samples per second on so many nodes, measured over so many seconds.
    virtual void observe(JobId, int /*nodes*/, double /*rate*/, double /*seconds*/) {}
    virtual void finished(JobId) {}
    // The newest part of the site's log of idle nodes, offered from time to time.
    virtual void learn(const IdleTrace& /*recent*/) {}
};

struct PolicySettings {
    RescaleCosts costs;
    int most = 64;               // nodes of a job
    double horizon_s = 120;      // of bftrainer and malletrain
    double fixed_horizon_s = 0;  // of mastic: 0: a share of the predicted lives, tuned
    int fixed_size = 8;
    int slots = 10;  // jobs at a time, for tuning by replay
    std::uint64_t seed = 1;
};

struct PolicyKind {
    const char* name;
    const char* description;
    bool live;          // rescales as mastic does; otherwise by stopping and restarting
    bool rigid;         // a job that loses a node stops
    bool given_curves;  // is told the throughput curves
    bool by_cohort;     // nodes that became idle together stay together
    std::unique_ptr<Policy> (*make)(const PolicySettings&);
};

// oracle, none, fixed, equal, greedy, bftrainer, malletrain, mastic.
const std::vector<PolicyKind>& policy_kinds();

// decide(), checked. Targets that break the rules, and a policy that throws, keep the present map (as far as it is
// still allowed), and every job's reason says so.
std::vector<Target> checked_decision(Policy& policy, const Situation& situation);

}  // namespace mastic::schedule
