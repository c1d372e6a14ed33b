#include <mastic/comm/plan/detail/binomial_tree.hpp>
#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/steps.hpp>

namespace mastic::comm::detail {

Plan binomial_broadcast(int rank, int size, int root) {
    const BinomialTree tree(size);
    const int place = wrap(rank - root, size);
    Plan plan;
    if (place != 0) {
        plan.steps.push_back(receive_from(wrap(root + BinomialTree::parent(place), size), 0));
    }
    for (const int child : tree.children(place)) {
        plan.steps.push_back(send_to(wrap(root + child, size), 0));
    }
    return plan;
}

}  // namespace mastic::comm::detail
