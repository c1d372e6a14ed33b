#include <mastic/schedule/manager/desired_changes.hpp>

#include <algorithm>

namespace mastic::schedule {
namespace {

constexpr bool by_cohort = true;

int missing(const WantedNodes& training) {
    return training.target - static_cast<int>(training.held.size());
}

// Those that wait for their node are given up first: nothing is lost.
void give_back(const WantedNodes& training, std::vector<std::string>& leave) {
    auto surplus = static_cast<std::size_t>(std::max(0, -missing(training)));
    std::vector<HeldNode> running;
    for (auto held = training.held.rbegin(); held != training.held.rend(); ++held) {
        if (held->pending && surplus > 0) {
            leave.push_back(held->job);
            --surplus;
        } else if (!held->pending) {
            running.insert(running.begin(), *held);
        }
    }
    std::vector<IdleNode> nodes;
    std::ranges::transform(running, std::back_inserter(nodes), &HeldNode::node);
    for (const std::size_t at : nodes_to_release(nodes, static_cast<int>(surplus), by_cohort)) {
        leave.push_back(running[at].job);
    }
}

}  // namespace

DesiredChanges desired_changes(const std::vector<WantedNodes>& trainings, const std::vector<IdleNode>& free,
                               std::size_t most_new) {
    DesiredChanges changes;
    std::vector<const WantedNodes*> growing;
    for (const WantedNodes& training : trainings) {
        give_back(training, changes.leave);
        if (missing(training) > 0) {
            growing.push_back(&training);
        }
    }
    std::ranges::stable_sort(growing, std::greater{},
                             [](const WantedNodes* training) { return missing(*training); });
    NodePool pool(by_cohort);
    std::ranges::for_each(free, [&pool](const IdleNode& node) { pool.add(node); });
    for (const WantedNodes* training : growing) {
        const int room = static_cast<int>(most_new - changes.come.size());
        std::vector<IdleNode> held;
        std::ranges::transform(training->held, std::back_inserter(held), &HeldNode::node);
        for (const IdleNode& node :
             pool.take(std::min({missing(*training), training->most_new, room}), held)) {
            changes.come.push_back({training->training, node});
        }
    }
    return changes;
}

}  // namespace mastic::schedule
