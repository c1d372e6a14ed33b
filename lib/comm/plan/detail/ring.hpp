// One ring through all ranks, in either direction, on `size` blocks from `first_block` on.
#pragma once

#include <vector>

#include <mastic/comm/plan/plan.hpp>

namespace mastic::comm::detail {

struct Ring {
    int rank = 0;
    int size = 1;
    int direction = 1;  // 1: to the next rank; -1: to the one before
    int first_block = 0;
};

// Afterwards rank r has the reduction of the ring's block r.
void append_ring_reduce_scatter(const Ring& ring, std::vector<PlanStep>& steps);
// Begins with block r on rank r.
void append_ring_allgather(const Ring& ring, std::vector<PlanStep>& steps);

}  // namespace mastic::comm::detail
