#include <mastic/comm/plan/detail/binomial_tree.hpp>
#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/steps.hpp>

namespace mastic::comm::detail {

// Places are ranks counted from the root on; block i is for place i. After the scatter a place has the blocks of its
// subtree, so the ring leaves those out.
Plan scatter_allgather_broadcast(int rank, int size, int root) {
    const BinomialTree tree(size);
    const int place = wrap(rank - root, size);
    Plan plan{size, {}};
    if (place != 0) {
        plan.steps.push_back(
            receive_from(wrap(root + BinomialTree::parent(place), size), place, tree.subtree(place)));
    }
    for (const int child : tree.children(place)) {
        plan.steps.push_back(send_to(wrap(root + child, size), child, tree.subtree(child)));
    }
    const auto lacks = [&](int at, int block) { return block < at || block >= at + tree.subtree(at); };
    for (int round = 0; round < size - 1; ++round) {
        const int outgoing = wrap(place - round, size);
        const int incoming = wrap(place - round - 1, size);
        if (lacks(wrap(place + 1, size), outgoing)) {
            plan.steps.push_back(send_to(wrap(rank + 1, size), outgoing));
        }
        if (lacks(place, incoming)) {
            plan.steps.push_back(receive_from(wrap(rank - 1, size), incoming));
        }
    }
    return plan;
}

}  // namespace mastic::comm::detail
