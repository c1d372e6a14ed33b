#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/steps.hpp>

namespace mastic::comm::detail {

Plan pairwise_reduce_scatter(int rank, int size, int) {
    Plan plan{size, {}};
    for (int distance = 1; distance < size; ++distance) {
        const int to = wrap(rank + distance, size);
        plan.steps.push_back(send_to(to, to));
        plan.steps.push_back(reduce_from(wrap(rank - distance, size), rank));
    }
    return plan;
}

}  // namespace mastic::comm::detail
