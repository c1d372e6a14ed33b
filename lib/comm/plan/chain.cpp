#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/steps.hpp>

namespace mastic::comm::detail {

Plan chain_broadcast(int rank, int size, int root) {
    const int place = wrap(rank - root, size);
    Plan plan;
    if (place != 0) {
        plan.steps.push_back(receive_from(wrap(rank - 1, size), 0));
    }
    if (place != size - 1) {
        plan.steps.push_back(send_to(wrap(rank + 1, size), 0));
    }
    return plan;
}

}  // namespace mastic::comm::detail
