// One training of a replay: its nodes, its progress, and what changing its nodes does to it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <mastic/schedule/node_pool.hpp>
#include <mastic/schedule/policy.hpp>
#include <mastic/schedule/rescale_cost.hpp>

namespace mastic::schedule {

struct NodeSeconds;

class ReplayJob {
  public:
    // The curves must outlive the job. `least`: fewer nodes compute nothing.
    ReplayJob(JobId id, double work, const ThroughputCurve& curve, const ThroughputCurve& relative, int least,
              const RescaleCosts& costs);

    JobId id() const { return id_; }
    int held() const { return static_cast<int>(held_.size()); }
    const std::vector<IdleNode>& idle_nodes() const { return held_; }
    const ThroughputCurve& relative_curve() const { return *relative_; }
    JobNodes nodes() const;
    bool done() const { return progress_ >= work_ * (1 - 1e-12); }

    // When added nodes become ready, or the work is done, if nothing changes.
    double next_event(double now) const;
    // Progress until then, during which no node becomes ready.
    double advance(double now, double until, NodeSeconds& account);

    void grow(const std::vector<IdleNode>& added, double now);
    void join_ready(double now, const std::function<void(const IdleNode&)>& joined);
    std::vector<IdleNode> release(int count, double now, bool by_cohort);
    // A node is taken; true if it was computing. lost_nodes() follows, once for all that went at this time.
    bool lose(int node);
    void lost_nodes(double now);

    struct Measurement {
        int nodes;
        double rate;
        double seconds;
    };
    // The throughput since the last change or measurement, if it was steady for 20 s.
    std::optional<Measurement> measurement(double now, double noise, std::uint64_t seed);

  private:
    bool is_ready(std::size_t i) const { return ready_[i] <= ready_until_; }
    bool computes() const { return running_ >= least_ && running_ > 0; }
    void pause(double now, double seconds);
    void count_running();

    JobId id_;
    double work_;
    const ThroughputCurve* curve_;
    const ThroughputCurve* relative_;
    int least_;
    RescaleCosts costs_;
    double progress_ = 0;
    std::vector<IdleNode> held_;
    std::vector<double> ready_;  // when each of them computes
    double ready_until_ = 0;     // nodes ready at this time are running
    int running_ = 0;
    double paused_until_ = 0;
    double steady_since_ = 0;  // the rate is constant since then, and not measured
    std::uint64_t measurements_ = 0;
};

}  // namespace mastic::schedule
