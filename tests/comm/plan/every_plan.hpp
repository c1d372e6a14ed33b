// All plans that there are, for small numbers of ranks.
#pragma once

#include <vector>

#include <mastic/comm/plan/algorithms.hpp>

namespace mastic::comm {

inline constexpr int most_ranks = 17;

// By rank.
inline std::vector<Plan> plans_of(const PlanAlgorithm& algorithm, int size, int root) {
    std::vector<Plan> plans;
    for (int rank = 0; rank < size; ++rank) {
        plans.push_back(algorithm.make(rank, size, root));
    }
    return plans;
}

inline int roots_of(const PlanAlgorithm& algorithm, int size) {
    return algorithm.collective == Collective::broadcast ? size : 1;
}

// visit(algorithm, size, root)
template <class Visitor>
void for_each_case(Visitor visit) {
    for (const PlanAlgorithm& algorithm : plan_algorithms()) {
        for (int size = 1; size <= most_ranks; ++size) {
            for (int root = 0; root < roots_of(algorithm, size); ++root) {
                visit(algorithm, size, root);
            }
        }
    }
}

}  // namespace mastic::comm
