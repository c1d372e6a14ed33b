#include <mastic/schedule/replay.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <mastic/schedule/lifetimes.hpp>
#include <mastic/schedule/node_pool.hpp>
#include <mastic/schedule/replay_job.hpp>
#include <mastic/schedule/span_recorder.hpp>

namespace mastic::schedule {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class Replay {
  public:
    Replay(const IdleTrace& trace, const Workload& workload, const PolicyKind& kind, Policy& policy,
           const ReplayOptions& options)
        : trace_(trace),
          workload_(workload),
          kind_(kind),
          policy_(policy),
          options_(options),
          pool_(kind.by_cohort),
          owner_(static_cast<std::size_t>(trace.nodes), nobody),
          since_(static_cast<std::size_t>(trace.nodes), -1.0),
          recorder_(options.watched, options.watch_from_s, options.watch_to_s),
          next_learning_(options.learn_every_s > 0 ? options.learn_every_s : never) {
        for (const NamedCurve& curve : workload.curves) {
            relative_.push_back(normalised(curve.curve));
        }
        for (int slot = 0; slot < workload.slots; ++slot) {
            jobs_.push_back(next_job());
        }
    }

    ReplayResult run() {
        while (now_ < trace_.end) {
            const double until = std::min(next_time(), trace_.end);
            advance(until);
            if (now_ >= trace_.end) {
                break;
            }
            handle_events();
        }
        take_samples(trace_.end);
        result_.spans = recorder_.finish(now_);
        return std::move(result_);
    }

  private:
    static constexpr int nobody = -1;  // the pool has it, or it is not idle

    ReplayJob next_job() {
        const JobId id = next_id_++;
        const WorkloadItem training = training_of(workload_, id);
        const NamedCurve& curve = workload_.curves[training.curve];
        return ReplayJob(id, training.work, curve.curve, relative_[training.curve], workload_.least,
                         options_.costs);
    }

    double next_time() const {
        double next = event_ < trace_.events.size() ? trace_.events[event_].time : never;
        next = std::min({next, policy_.next_wake_s(), next_learning_});
        for (const ReplayJob& job : jobs_) {
            next = std::min(next, job.next_event(now_));
        }
        return std::max(next, now_);
    }

    void advance(double until) {
        take_samples(until);
        const double span = until - now_;
        for (ReplayJob& job : jobs_) {
            result_.progress += job.advance(now_, until, result_.nodes);
        }
        result_.nodes.unused += span * pool_.size();
        result_.nodes.given += span * idle_;
        now_ = until;
    }

    // Samples lie inside a span in which all rates are constant but for pauses: a straight line is near enough.
    void take_samples(double until) {
        for (; next_sample_ <= until; next_sample_ += options_.sample_every_s) {
            result_.samples.push_back({next_sample_, result_.progress, idle_, idle_ - pool_.size()});
        }
    }

    void handle_events() {
        for (ReplayJob& job : jobs_) {
            if (const auto measured = job.measurement(now_, workload_.noise, workload_.seed)) {
                policy_.observe(job.id(), measured->nodes, measured->rate, measured->seconds);
            }
        }
        bool changed = policy_.next_wake_s() <= now_;
        changed = change_idle_nodes() || changed;
        for (ReplayJob& job : jobs_) {
            job.join_ready(now_, [this, &job](const IdleNode& node) {
                recorder_.set(node.node, now_, NodeSpan::Kind::computing, job.id());
            });
            if (job.done()) {
                replace(job);
                changed = true;
            }
        }
        if (now_ >= next_learning_) {
            policy_.learn(trace_.slice(now_ - options_.learn_every_s, now_));
            next_learning_ += options_.learn_every_s;
        }
        if (changed) {
            decide();
        }
    }

    bool change_idle_nodes() {
        bool any = false;
        std::vector<bool> hit(jobs_.size());
        for (; event_ < trace_.events.size() && trace_.events[event_].time <= now_; ++event_) {
            const NodeEvent& event = trace_.events[event_];
            any = true;
            if (event.idle) {
                arrive(event.node);
            } else {
                leave(event.node, hit);
            }
        }
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            if (hit[j]) {
                ++result_.departures;
                jobs_[j].lost_nodes(now_);
                if (kind_.rigid || jobs_[j].held() < workload_.least) {
                    release(jobs_[j], jobs_[j].held());
                }
            }
        }
        return any;
    }

    void arrive(int node) {
        since_[static_cast<std::size_t>(node)] = now_;
        ++cohorts_[now_];
        ++idle_;
        to_pool({node, now_});
    }

    void leave(int node, std::vector<bool>& hit) {
        const auto at = static_cast<std::size_t>(node);
        const IdleNode gone{node, since_[at]};
        lifetimes_.add(now_ - gone.since_s);
        if (--cohorts_[gone.since_s] == 0) {
            cohorts_.erase(gone.since_s);
        }
        --idle_;
        if (owner_[at] == nobody) {
            pool_.remove(gone);
        } else {
            const auto job = static_cast<std::size_t>(owner_[at]);
            hit[job] = jobs_[job].lose(node) || hit[job];
            owner_[at] = nobody;
        }
        recorder_.clear(node, now_);
    }

    void to_pool(const IdleNode& node) {
        owner_[static_cast<std::size_t>(node.node)] = nobody;
        pool_.add(node);
        recorder_.set(node.node, now_, NodeSpan::Kind::unused, -1);
    }

    void release(ReplayJob& job, int count) {
        for (const IdleNode& node : job.release(count, now_, kind_.by_cohort)) {
            to_pool(node);
        }
    }

    void replace(ReplayJob& job) {
        ++result_.finished;
        policy_.finished(job.id());
        release(job, job.held());
        job = next_job();
    }

    // Node-weighted mean over all idle nodes.
    double residual_life() const {
        double sum = 0;
        int nodes = 0;
        for (const auto& [since, count] : cohorts_) {
            sum += count * lifetimes_.expected_residual_s(now_ - since);
            nodes += count;
        }
        return nodes > 0 ? sum / nodes : 0;
    }

    void decide() {
        Situation situation{now_, {}, pool_.size(), residual_life()};
        for (const ReplayJob& job : jobs_) {
            situation.jobs.push_back({job.id(), workload_.least, workload_.most, job.nodes(),
                                      kind_.given_curves ? &job.relative_curve() : nullptr});
        }
        const std::vector<Target> targets = checked_decision(policy_, situation);
        ++result_.decisions;
        result_.kept += !targets.empty() && targets[0].reason.starts_with("kept:") ? 1 : 0;
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            note(jobs_[j], targets[j]);
            release(jobs_[j], std::max(0, jobs_[j].held() - targets[j].nodes));
        }
        std::vector<std::size_t> growing;
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            if (targets[j].nodes > jobs_[j].held()) {
                growing.push_back(j);
            }
        }
        std::ranges::stable_sort(growing, std::greater{},
                                 [&](std::size_t j) { return targets[j].nodes - jobs_[j].held(); });
        for (const std::size_t j : growing) {
            grow(j, targets[j].nodes - jobs_[j].held());
        }
    }

    void note(const ReplayJob& job, const Target& target) {
        if (target.nodes != job.held()) {
            ++result_.rescales;
            if (options_.on_decision) {
                options_.on_decision({now_, job.id(), job.held(), target.nodes, target.reason});
            }
        }
    }

    void grow(std::size_t index, int count) {
        ReplayJob& job = jobs_[index];
        const std::vector<IdleNode> added = pool_.take(count, job.idle_nodes());
        for (const IdleNode& node : added) {
            owner_[static_cast<std::size_t>(node.node)] = static_cast<int>(index);
            recorder_.set(node.node, now_, NodeSpan::Kind::starting, job.id());
        }
        job.grow(added, now_);
    }

    const IdleTrace& trace_;
    const Workload& workload_;
    const PolicyKind& kind_;
    Policy& policy_;
    const ReplayOptions& options_;
    std::vector<ThroughputCurve> relative_;  // by curve of the workload
    std::vector<ReplayJob> jobs_;            // by slot
    NodePool pool_;
    std::vector<int> owner_;     // slot, by node
    std::vector<double> since_;  // idle since, by node
    std::map<double, int> cohorts_;
    Lifetimes lifetimes_;
    SpanRecorder recorder_;
    ReplayResult result_;
    std::size_t event_ = 0;
    int idle_ = 0;
    double now_ = 0;
    double next_sample_ = 0;
    double next_learning_;
    JobId next_id_ = 0;
};

}  // namespace

ReplayResult replay(const IdleTrace& trace, const Workload& workload, const PolicyKind& kind, Policy& policy,
                    const ReplayOptions& options) {
    return Replay(trace, workload, kind, policy, options).run();
}

}  // namespace mastic::schedule
