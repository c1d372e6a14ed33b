#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/ring.hpp>

namespace mastic::comm::detail {

namespace {

std::vector<PlanStep> one_ring(const Ring& ring) {
    std::vector<PlanStep> steps;
    append_ring_reduce_scatter(ring, steps);
    append_ring_allgather(ring, steps);
    return steps;
}

}  // namespace

Plan bidirectional_ring_allreduce(int rank, int size, int) {
    const std::vector<PlanStep> forward = one_ring({rank, size, 1, 0});
    const std::vector<PlanStep> backward = one_ring({rank, size, -1, size});
    Plan plan{2 * size, {}};
    for (std::size_t i = 0; i < forward.size(); ++i) {
        plan.steps.push_back(forward[i]);
        plan.steps.push_back(backward[i]);
    }
    return plan;
}

}  // namespace mastic::comm::detail
