#include <mastic/comm/plan/detail/fold.hpp>
#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/steps.hpp>

namespace mastic::comm::detail {

namespace {

// One rank of the core. Its number's blocks are those from first_block(number) to first_block(number + 1).
struct Halving {
    Fold fold;
    int number;
    int (*first_block)(const Fold& fold, int number);

    // A step on the blocks of `count` numbers from `first` on.
    PlanStep on(PlanStep (*make)(int peer, int first_block, int block_count), int peer, int first,
                int count) const {
        const int begin = first_block(fold, first);
        return make(fold.rank(peer), begin, first_block(fold, first + count) - begin);
    }
};

// The half of the numbers that this rank is not in goes to a peer in that half; and so on within its own half.
void append_reduce_scatter(const Halving& halving, std::vector<PlanStep>& steps) {
    for (int distance = halving.fold.core() / 2; distance >= 1; distance /= 2) {
        const int peer = halving.number ^ distance;
        steps.push_back(halving.on(send_to, peer, peer & -distance, distance));
        steps.push_back(halving.on(reduce_from, peer, halving.number & -distance, distance));
    }
}

void append_allgather(const Halving& halving, std::vector<PlanStep>& steps) {
    for (int distance = 1; distance < halving.fold.core(); distance *= 2) {
        const int peer = halving.number ^ distance;
        steps.push_back(halving.on(send_to, peer, halving.number & -distance, distance));
        steps.push_back(halving.on(receive_from, peer, peer & -distance, distance));
    }
}

int block_per_core_rank(const Fold&, int number) {
    return number;
}
// A core rank answers for its extra rank's block, too.
int block_per_rank(const Fold& fold, int number) {
    return fold.rank(number);
}

}  // namespace

Plan rabenseifner_allreduce(int rank, int size, int) {
    const Fold fold(size);
    const int blocks = fold.core();
    if (fold.is_extra(rank)) {
        const int partner = fold.partner(rank);
        return {blocks, {send_to(partner, 0, blocks), receive_from(partner, 0, blocks)}};
    }
    const Halving halving{fold, fold.number(rank), block_per_core_rank};
    const bool has_extra = fold.has_extra(halving.number);
    Plan plan{blocks, {}};
    if (has_extra) {
        plan.steps.push_back(reduce_from(fold.extra(halving.number), 0, blocks));
    }
    append_reduce_scatter(halving, plan.steps);
    append_allgather(halving, plan.steps);
    if (has_extra) {
        plan.steps.push_back(send_to(fold.extra(halving.number), 0, blocks));
    }
    return plan;
}

Plan recursive_halving_reduce_scatter(int rank, int size, int) {
    const Fold fold(size);
    if (fold.is_extra(rank)) {
        const int partner = fold.partner(rank);
        return {size, {send_to(partner, 0, size), receive_from(partner, rank)}};
    }
    const Halving halving{fold, fold.number(rank), block_per_rank};
    const bool has_extra = fold.has_extra(halving.number);
    Plan plan{size, {}};
    if (has_extra) {
        plan.steps.push_back(reduce_from(fold.extra(halving.number), 0, size));
    }
    append_reduce_scatter(halving, plan.steps);
    if (has_extra) {
        plan.steps.push_back(send_to(rank + 1, rank + 1));
    }
    return plan;
}

}  // namespace mastic::comm::detail
