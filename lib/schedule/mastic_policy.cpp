// What mastic itself does: exact allocation of what rescaling really costs, within a tuned horizon that no predicted
// life of the nodes at hand falls short of, with curves learned from what the jobs do; a job is moved only to learn
// more if that pays.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>

#include <mastic/report/statistics.hpp>
#include <mastic/schedule/allocator.hpp>
#include <mastic/schedule/horizon.hpp>
#include <mastic/schedule/job_profile.hpp>
#include <mastic/schedule/policies.hpp>
#include <mastic/schedule/probe.hpp>
#include <mastic/schedule/replay.hpp>
#include <mastic/schedule/value_table.hpp>

namespace mastic::schedule {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double shortest_horizon_s = 30;
constexpr double error_of_a_second = 0.09;  // relative, of a throughput measured for one second
constexpr double probe_interval_s = 300;  // thinking about one takes several allocations
constexpr std::size_t remembered_jobs = 200;

const PolicyKind& own_kind() {
    return *std::ranges::find_if(
        policy_kinds(), [](const PolicyKind& kind) { return std::strcmp(kind.name, "mastic") == 0; });
}

class Mastic : public Policy {
  public:
    explicit Mastic(const PolicySettings& settings) : settings_(settings), site_(settings.most) {}

    void observe(JobId id, int nodes, double rate, double seconds) override {
        Job& job = known(id);
        job.profile.observe(nodes, rate, error_of_a_second / std::sqrt(std::max(1.0, seconds)));
        job.work += seconds * job.profile.speed_up().at(nodes);
        job.seconds += seconds;
        job.steady_s = nodes == job.steady_nodes ? job.steady_s + seconds : seconds;
        job.steady_nodes = nodes;
        if (probe_ && probe_->job == id && probe_->nodes == nodes) {
            probe_.reset();
        }
    }

    void finished(JobId id) override {
        const auto found = jobs_.find(id);
        if (found == jobs_.end()) {
            return;
        }
        site_.add(found->second.profile);
        ended_work_.push_back(found->second.work);
        ended_seconds_.push_back(found->second.seconds);
        if (ended_work_.size() > remembered_jobs) {
            ended_work_.erase(ended_work_.begin());
            ended_seconds_.erase(ended_seconds_.begin());
        }
        jobs_.erase(found);
        if (probe_ && probe_->job == id) {
            probe_.reset();
        }
    }

    double next_wake_s() const override { return probe_ ? probe_->until_s : never; }

    std::vector<Target> decide(const Situation& situation) override {
        if (probe_ && situation.now_s >= probe_->until_s) {
            probe_.reset();
        }
        const double horizon = horizon_s(situation);
        std::vector<JobValues> values;
        for (const JobState& job : situation.jobs) {
            values.push_back(value_table(job, known(job.id).profile.speed_up(), situation.now_s, horizon,
                                         settings_.costs));
            if (probe_ && probe_->job == job.id) {
                hold(values.back());
            }
        }
        const Allocation allocation = allocate(values, situation.nodes());
        std::vector<Target> targets;
        for (std::size_t j = 0; j < values.size(); ++j) {
            targets.push_back({allocation.nodes[j], reason(values[j], allocation.nodes[j], horizon)});
        }
        if (!probe_ && situation.now_s >= next_probe_s_) {
            next_probe_s_ = situation.now_s + probe_interval_s;
            consider_probe(situation, values, allocation, horizon, targets);
        }
        return targets;
    }

    void learn(const IdleTrace& recent) override {
        if (settings_.fixed_horizon_s > 0) {
            return;
        }
        const Workload workload = typical_workload();
        horizon_.tune(recent, [&](const IdleTrace& log, double horizon) {
            PolicySettings settings = settings_;
            settings.fixed_horizon_s = horizon;
            Mastic trial(settings);
            trial.next_probe_s_ = never;
            ReplayOptions options;
            options.costs = settings_.costs;
            options.learn_every_s = 0;
            return replay(log, workload, own_kind(), trial, options).progress;
        });
    }

  private:
    struct Job {
        JobProfile profile;
        double work = 0;     // node-seconds of one node, as far as it was measured
        double seconds = 0;  // in which it was measured
        int steady_nodes = 0;
        double steady_s = 0;  // on so many nodes until now
    };
    struct Probe {
        JobId job;
        int nodes;
        double until_s;
    };

    Job& known(JobId id) {
        const auto found = jobs_.find(id);
        return found != jobs_.end() ? found->second
                                    : jobs_.emplace(id, Job{JobProfile(present_prior())}).first->second;
    }

    // A new job is expected to be like those that ended and those that run.
    CurvePrior present_prior() const {
        SiteCurves all = site_;
        for (const auto& [id, job] : jobs_) {
            if (job.profile.seen()) {
                all.add(job.profile);
            }
        }
        return all.prior();
    }

    double horizon_s(const Situation& situation) const {
        const double wanted =
            settings_.fixed_horizon_s > 0 ? settings_.fixed_horizon_s : horizon_.horizon_s();
        return std::max(shortest_horizon_s, std::min(wanted, situation.residual_life_s));
    }

    // While a job is being measured only what it has is allowed (or nothing).
    static void hold(JobValues& values) {
        for (std::size_t n = 1; n < values.value.size(); ++n) {
            if (static_cast<int>(n) != values.current) {
                values.value[n] = not_allowed;
            }
        }
    }

    // The job of which least is known, among those that run steadily.
    void consider_probe(const Situation& situation, const std::vector<JobValues>& values,
                        const Allocation& allocation, double horizon, std::vector<Target>& targets) {
        std::size_t worst = values.size();
        double error = 0;
        for (std::size_t j = 0; j < values.size(); ++j) {
            const JobState& job = situation.jobs[j];
            const double own = known(job.id).profile.exponent().error;
            if (job.nodes.running > 0 && job.nodes.starting.empty() && own > error) {
                worst = j;
                error = own;
            }
        }
        if (worst == values.size()) {
            return;
        }
        const JobState& job = situation.jobs[worst];
        const JobProfile& profile = known(job.id).profile;
        for (const int size : probe_sizes(job, profile, situation.nodes() / 2)) {
            const ProbeQuestion question{
                situation,     values,         allocation, worst, size, horizon, use_of_probe_s(job.id),
                shortest_measurement_s, settings_.costs};
            const ProbeEstimate estimate = estimate_probe(question, profile);
            if (estimate.pays()) {
                start_probe(question, estimate, targets);
                return;
            }
        }
    }

    // The job gets the probed size, the others the best of what is left.
    void start_probe(const ProbeQuestion& question, const ProbeEstimate& estimate,
                     std::vector<Target>& targets) {
        std::vector<JobValues> values(question.values.begin(), question.values.end());
        values[question.job].value.assign(1, 0.0);
        values[question.job].current = 0;
        const Allocation rest = allocate(values, question.situation.nodes() - question.nodes);
        for (std::size_t j = 0; j < targets.size(); ++j) {
            targets[j] = {rest.nodes[j], reason(values[j], rest.nodes[j], question.horizon_s)};
        }
        char text[120];
        std::snprintf(text, sizeof text, "probe: expected to gain %.0f node-seconds of work and to cost %.0f",
                      estimate.gain, estimate.cost);
        targets[question.job] = {question.nodes, text};
        const double wait = settings_.costs.start_s + settings_.costs.join_s + 1.5 * shortest_measurement_s;
        probe_ =
            Probe{question.situation.jobs[question.job].id, question.nodes, question.situation.now_s + wait};
    }

    static std::string reason(const JobValues& values, int target, double horizon) {
        if (target == values.current) {
            return "";
        }
        const double present = values.value[static_cast<std::size_t>(values.current)];
        if (present == not_allowed) {
            return "its " + std::to_string(values.current) + " nodes are outside of its limits";
        }
        const double gain = values.value[static_cast<std::size_t>(target)] - present;
        const bool grows = target > values.current;
        char text[120];
        std::snprintf(text, sizeof text,
                      grows
                          ? "gains %.0f node-seconds of work within %.0f s, what its start costs counted"
                          : "its nodes gain more elsewhere than the %.0f node-seconds it loses within %.0f s",
                      std::abs(gain), horizon);
        return text;
    }

    // How long a job is expected to use what a probe tells. Half of a job's time is over on average, and who has run
    // for long will run for long. But a job learns by itself when it changes its size for another reason, and who has
    // kept it for long will keep it for long.
    double use_of_probe_s(JobId id) {
        constexpr double unknown = 1800;
        const Job& job = known(id);
        const double remaining =
            std::max(job.seconds, ended_seconds_.empty() ? unknown : report::median(ended_seconds_) / 2);
        return std::min(remaining, job.steady_s);
    }

    // Jobs as this site has had them: its mean curve and those one standard error beside it.
    Workload typical_workload() const {
        Workload workload;
        workload.slots = settings_.slots;
        workload.most = settings_.most;
        workload.seed = settings_.seed;
        workload.median_work = ended_work_.empty() ? workload.median_work : report::median(ended_work_);
        const JobProfile typical(site_.prior());
        const double error = typical.exponent().error;
        for (const double shift : {-error, 0.0, error}) {
            ThroughputCurve curve = typical.speed_up();
            for (int n = 1; n <= curve.largest(); ++n) {
                curve.rate[static_cast<std::size_t>(n)] *= std::pow(n, shift);
            }
            workload.curves.push_back({"typical", std::move(curve)});
        }
        return workload;
    }

    PolicySettings settings_;
    SiteCurves site_;
    HorizonTuner horizon_;
    std::map<JobId, Job> jobs_;
    std::optional<Probe> probe_;
    double next_probe_s_ = 0;
    std::vector<double> ended_work_;
    std::vector<double> ended_seconds_;
};

}  // namespace

std::unique_ptr<Policy> make_mastic(const PolicySettings& settings) {
    return std::make_unique<Mastic>(settings);
}

}  // namespace mastic::schedule
