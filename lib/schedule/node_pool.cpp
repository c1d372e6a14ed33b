#include <mastic/schedule/node_pool.hpp>

#include <algorithm>
#include <numeric>

namespace mastic::schedule {

void NodePool::add(const IdleNode& node) {
    cohorts_[by_cohort_ ? node.since_s : 0].push_back(node.node);
    since_[node.node] = node.since_s;
    ++size_;
}

void NodePool::remove(const IdleNode& node) {
    const auto cohort = cohorts_.find(by_cohort_ ? node.since_s : 0);
    cohort->second.erase(std::ranges::find(cohort->second, node.node));
    if (cohort->second.empty()) {
        cohorts_.erase(cohort);
    }
    since_.erase(node.node);
    --size_;
}

std::vector<IdleNode> NodePool::take(int count, const std::vector<IdleNode>& held) {
    std::vector<double> own;
    for (const IdleNode& node : held) {
        own.push_back(node.since_s);
    }
    std::vector<IdleNode> taken;
    while (static_cast<int>(taken.size()) < count && size_ > 0) {
        const int missing = count - static_cast<int>(taken.size());
        const auto cohort = choose(missing, own);
        auto& nodes = cohort->second;
        std::ranges::sort(nodes);
        for (int i = 0; i < missing && !nodes.empty(); ++i) {
            taken.push_back({nodes.back(), since_.at(nodes.back())});
            since_.erase(nodes.back());
            nodes.pop_back();
            --size_;
        }
        if (nodes.empty()) {
            cohorts_.erase(cohort);
        }
    }
    return taken;
}

NodePool::Cohorts::iterator NodePool::choose(int count, const std::vector<double>& held) {
    // Lower is better: first the kind of fit, then the size.
    const auto rank = [&](const Cohorts::value_type& cohort) {
        const int size = static_cast<int>(cohort.second.size());
        const int kind = std::ranges::count(held, cohort.first) > 0 ? 0
                         : size == count                            ? 1
                         : size < count                             ? 2
                                                                    : 3;
        return std::pair(kind, kind == 2 ? -size : size);
    };
    return std::ranges::min_element(cohorts_, {}, rank);
}

std::vector<std::size_t> nodes_to_release(const std::vector<IdleNode>& held, int count, bool by_cohort) {
    std::vector<std::size_t> order(held.size());
    std::iota(order.begin(), order.end(), 0u);
    std::map<double, int> sizes;
    for (const IdleNode& node : held) {
        ++sizes[by_cohort ? node.since_s : 0];
    }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const auto key = [&](std::size_t i) {
            const double cohort = by_cohort ? held[i].since_s : 0;
            return std::tuple(sizes.at(cohort), cohort, -static_cast<std::ptrdiff_t>(i));
        };
        return key(a) < key(b);
    });
    order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
    std::ranges::sort(order);
    return order;
}

}  // namespace mastic::schedule
