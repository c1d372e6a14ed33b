// MalleTrain: a new job is started on as many nodes as there are and shrunk step by step, each size measured, before
// BFTrainer's objective decides on it. Sizes are powers of two; a size is measured for 20 s (about 3 + 15 steps). What
// jobs do later is measured too.
#include <algorithm>
#include <bit>
#include <map>

#include <mastic/schedule/bftrainer_policy.hpp>
#include <mastic/schedule/measured_curve.hpp>
#include <mastic/schedule/policies.hpp>

namespace mastic::schedule {
namespace {

class MalleTrain : public Policy {
  public:
    explicit MalleTrain(const PolicySettings& settings) : settings_(settings) {}

    void observe(JobId job, int nodes, double rate, double) override {
        Profile& profile = profiles_[job];
        profile.measured.set(nodes, rate);
        profile.curve = profile.measured.relative(settings_.most);
    }
    void finished(JobId job) override { profiles_.erase(job); }
    double next_wake_s() const override { return wake_; }

    std::vector<Target> decide(const Situation& situation) override {
        wake_ = std::numeric_limits<double>::infinity();
        std::vector<bool> probing(situation.jobs.size());
        std::vector<Target> probes(situation.jobs.size());
        Situation rest = situation;
        for (std::size_t j = 0; j < situation.jobs.size(); ++j) {
            const JobState& job = situation.jobs[j];
            Profile& profile = profiles_[job.id];
            if (profile.curve.largest() == 0) {
                profile.curve = profile.measured.relative(settings_.most);
            }
            const int held = job.nodes.held();
            probes[j] = probe(job, profile, rest.free, situation.now_s);
            probing[j] = profile.probing;
            rest.free -= probing[j] ? probes[j].nodes - held : 0;
            if (probing[j]) {
                rest.jobs[j].nodes = {probes[j].nodes, {}, 0};
            }
        }
        const auto curve = [&](std::size_t j) -> const ThroughputCurve& {
            return profiles_[situation.jobs[j].id].curve;
        };
        std::vector<Target> targets =
            bftrainer_targets(rest, settings_.horizon_s, settings_.costs, curve, probing);
        for (std::size_t j = 0; j < targets.size(); ++j) {
            if (probing[j]) {
                targets[j] = probes[j];
            }
        }
        return targets;
    }

  private:
    struct Profile {
        MeasuredCurve measured;
        ThroughputCurve curve;
        bool probing = false;
    };

    // Starts, continues or ends the probing of a job; the target is of use if it is being probed afterwards.
    Target probe(const JobState& job, Profile& profile, int free, double now_s) {
        const int held = job.nodes.held();
        if (!profile.probing && held == 0 && profile.measured.points() < 2 && free >= job.least) {
            profile.probing = true;
            const auto most = static_cast<unsigned>(std::min(job.most, free));
            const int size = std::max(job.least, static_cast<int>(std::bit_floor(most)));
            wake_ = std::min(wake_, now_s + settings_.costs.start_s + shortest_measurement_s);
            return {size, "probe: starts on as many nodes as there are"};
        }
        if (!profile.probing || held == 0) {
            profile.probing = false;
            return {held, ""};
        }
        if (!profile.measured.has(held)) {
            wake_ = std::min(wake_, std::max(now_s, job.nodes.paused_until_s) + shortest_measurement_s);
            return {held, ""};
        }
        if (held <= job.least) {
            profile.probing = false;
            return {held, ""};
        }
        const int next =
            std::max(job.least, static_cast<int>(std::bit_floor(static_cast<unsigned>(held - 1))));
        wake_ = std::min(wake_, now_s + settings_.costs.shrink_s + shortest_measurement_s);
        return {next, "probe: the next smaller size"};
    }

    PolicySettings settings_;
    std::map<JobId, Profile> profiles_;
    double wake_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::unique_ptr<Policy> make_malletrain(const PolicySettings& settings) {
    return std::make_unique<MalleTrain>(settings);
}

}  // namespace mastic::schedule
