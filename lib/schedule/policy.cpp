#include <mastic/schedule/policy.hpp>

#include <exception>

#include <mastic/schedule/policies.hpp>

namespace mastic::schedule {
namespace {

// "" if the targets are right.
std::string broken_rule(const std::vector<Target>& targets, const Situation& situation) {
    if (targets.size() != situation.jobs.size()) {
        return "not one target for each job";
    }
    int sum = 0;
    for (std::size_t j = 0; j < targets.size(); ++j) {
        const JobState& job = situation.jobs[j];
        const int nodes = targets[j].nodes;
        if (nodes != 0 && (nodes < job.least || nodes > job.most)) {
            return "job " + std::to_string(job.id) + " with " + std::to_string(nodes) + " nodes";
        }
        sum += nodes;
    }
    return sum > situation.nodes() ? std::to_string(sum) + " nodes of " + std::to_string(situation.nodes())
                                   : "";
}

std::vector<Target> present_map(const Situation& situation, const std::string& why) {
    std::vector<Target> targets;
    for (const JobState& job : situation.jobs) {
        targets.push_back({job.nodes.held(), "kept: the decision failed: " + why});
    }
    return targets;
}

}  // namespace

int Situation::nodes() const {
    int sum = free;
    for (const JobState& job : jobs) {
        sum += job.nodes.held();
    }
    return sum;
}

std::vector<Target> checked_decision(Policy& policy, const Situation& situation) {
    try {
        std::vector<Target> targets = policy.decide(situation);
        const std::string broken = broken_rule(targets, situation);
        return broken.empty() ? targets : present_map(situation, broken);
    } catch (const std::exception& error) {
        return present_map(situation, error.what());
    }
}

const std::vector<PolicyKind>& policy_kinds() {
    static const std::vector<PolicyKind> kinds = {
        {"oracle", "knows all curves and rescales for free", false, false, true, false, make_oracle},
        {"none", "leaves idle nodes idle", false, false, false, false, make_none},
        {"fixed", "jobs of a fixed size, which stop when they lose a node", false, true, false, false,
         make_fixed},
        {"equal", "all jobs get the same number of nodes", false, false, false, false, make_equal_share},
        {"greedy", "free nodes go where they add most; none is taken away", false, false, true, false,
         make_greedy},
        {"bftrainer", "given curves; BFTrainer's objective with a fixed horizon", false, false, true, false,
         make_bftrainer},
        {"malletrain", "the same with curves from MalleTrain's probes, largest size first", false, false,
         false, false, make_malletrain},
        {"mastic", "learned curves, growth that stops nobody, nodes placed by when they became idle", true,
         false, false, true, make_mastic},
    };
    return kinds;
}

}  // namespace mastic::schedule
