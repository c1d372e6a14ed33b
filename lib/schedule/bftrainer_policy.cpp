#include <mastic/schedule/bftrainer_policy.hpp>

#include <mastic/schedule/allocator.hpp>
#include <mastic/schedule/policies.hpp>

namespace mastic::schedule {
namespace {

JobValues values_of(const JobState& job, const ThroughputCurve& curve, double horizon_s,
                    const RescaleCosts& costs) {
    JobValues values{job.nodes.held(), {}};
    const double old_rate = curve.at(values.current);
    for (int n = 0; n <= job.most; ++n) {
        const double cost = n > values.current ? costs.start_s : n < values.current ? costs.shrink_s : 0;
        const bool allowed = n == 0 || n >= job.least;
        values.value.push_back(allowed ? horizon_s * curve.at(n) - cost * old_rate : not_allowed);
    }
    return values;
}

class BfTrainer : public Policy {
  public:
    explicit BfTrainer(const PolicySettings& settings) : settings_(settings) {}

    std::vector<Target> decide(const Situation& situation) override {
        const auto curve = [&](std::size_t j) -> const ThroughputCurve& { return *situation.jobs[j].given; };
        return bftrainer_targets(situation, settings_.horizon_s, settings_.costs, curve,
                                 std::vector<bool>(situation.jobs.size()));
    }

  private:
    PolicySettings settings_;
};

}  // namespace

std::vector<Target> bftrainer_targets(const Situation& situation, double horizon_s, const RescaleCosts& costs,
                                      const std::function<const ThroughputCurve&(std::size_t job)>& curve,
                                      const std::vector<bool>& skip) {
    std::vector<JobValues> values;
    int nodes = situation.nodes();
    for (std::size_t j = 0; j < situation.jobs.size(); ++j) {
        if (skip[j]) {
            nodes -= situation.jobs[j].nodes.held();
        } else {
            values.push_back(values_of(situation.jobs[j], curve(j), horizon_s, costs));
        }
    }
    const Allocation allocation = allocate(values, nodes);
    std::vector<Target> targets;
    std::size_t next = 0;
    for (std::size_t j = 0; j < situation.jobs.size(); ++j) {
        const int held = situation.jobs[j].nodes.held();
        const int target = skip[j] ? held : allocation.nodes[next++];
        targets.push_back({target, target == held ? "" : "maximises the objective of BFTrainer"});
    }
    return targets;
}

std::unique_ptr<Policy> make_bftrainer(const PolicySettings& settings) {
    return std::make_unique<BfTrainer>(settings);
}

}  // namespace mastic::schedule
