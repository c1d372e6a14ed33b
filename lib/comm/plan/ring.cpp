#include <mastic/comm/plan/detail/methods.hpp>
#include <mastic/comm/plan/detail/ring.hpp>
#include <mastic/comm/plan/detail/steps.hpp>

namespace mastic::comm::detail {

namespace {

// The rank, and the block, that lies `distance` against the direction of the ring.
int behind(const Ring& ring, int distance) {
    return wrap(ring.rank - ring.direction * distance, ring.size);
}
int block_behind(const Ring& ring, int distance) {
    return ring.first_block + behind(ring, distance);
}

}  // namespace

void append_ring_reduce_scatter(const Ring& ring, std::vector<PlanStep>& steps) {
    for (int round = 0; round < ring.size - 1; ++round) {
        steps.push_back(send_to(behind(ring, -1), block_behind(ring, round + 1)));
        steps.push_back(reduce_from(behind(ring, 1), block_behind(ring, round + 2)));
    }
}

void append_ring_allgather(const Ring& ring, std::vector<PlanStep>& steps) {
    for (int round = 0; round < ring.size - 1; ++round) {
        steps.push_back(send_to(behind(ring, -1), block_behind(ring, round)));
        steps.push_back(receive_from(behind(ring, 1), block_behind(ring, round + 1)));
    }
}

Plan ring_allreduce(int rank, int size, int) {
    Plan plan{size, {}};
    append_ring_reduce_scatter({rank, size}, plan.steps);
    append_ring_allgather({rank, size}, plan.steps);
    return plan;
}

Plan ring_reduce_scatter(int rank, int size, int) {
    Plan plan{size, {}};
    append_ring_reduce_scatter({rank, size}, plan.steps);
    return plan;
}

Plan ring_allgather(int rank, int size, int) {
    Plan plan{size, {}};
    append_ring_allgather({rank, size}, plan.steps);
    return plan;
}

}  // namespace mastic::comm::detail
