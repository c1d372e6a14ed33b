#include <mastic/comm/plan/detail/fold.hpp>
#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/steps.hpp>

namespace mastic::comm::detail {

namespace {

// An extra rank does not get the result from its partner, because a send may round: the partner would then differ from
// the other core ranks. It gets both operands of the last exchange instead, which saves a round as well.
std::vector<PlanStep> steps_of_extra(int rank, const Fold& fold) {
    const int partner = fold.partner(rank);
    const int last_peer = fold.rank(fold.number(partner) ^ (fold.core() / 2));
    return {send_to(partner, 0), receive_from(partner, 0), reduce_from(last_peer, 0)};
}

std::vector<PlanStep> steps_of_core(int rank, const Fold& fold) {
    const int number = fold.number(rank);
    std::vector<PlanStep> steps;
    if (fold.has_extra(number)) {
        steps.push_back(reduce_from(fold.extra(number), 0));
    }
    for (int distance = 1; distance < fold.core(); distance *= 2) {
        const int peer = number ^ distance;
        steps.push_back(send_to(fold.rank(peer), 0));
        if (distance == fold.core() / 2) {
            for (const int end : {number, peer}) {
                if (fold.has_extra(end)) {
                    steps.push_back(send_to(fold.extra(end), 0));
                }
            }
        }
        steps.push_back(reduce_from(fold.rank(peer), 0));
    }
    return steps;
}

}  // namespace

Plan recursive_doubling_allreduce(int rank, int size, int) {
    const Fold fold(size);
    return {1, fold.is_extra(rank) ? steps_of_extra(rank, fold) : steps_of_core(rank, fold)};
}

}  // namespace mastic::comm::detail
