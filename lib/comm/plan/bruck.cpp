#include <algorithm>

#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/steps.hpp>

namespace mastic::comm::detail {

// Before each round a rank has the `have` blocks from its own on, modulo `size`; so no block needs to be moved.
Plan bruck_allgather(int rank, int size, int) {
    Plan plan{size, {}};
    for (int have = 1; have < size; have *= 2) {
        const int count = std::min(have, size - have);
        const int from = wrap(rank + have, size);
        plan.steps.push_back(send_to(wrap(rank - have, size), rank, count));
        plan.steps.push_back(receive_from(from, from, count));
    }
    return plan;
}

}  // namespace mastic::comm::detail
