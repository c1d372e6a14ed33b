// The communicators of a group, one per lane (see operation_queue.hpp).
#pragma once

#include <memory>
#include <vector>

#include <mpi.h>

#include <mastic/comm/operation.hpp>

namespace mastic::comm::detail {

struct Lanes {
    std::vector<MPI_Comm> comms;
    int rank = 0;
    int size = 0;
    int nodes = 0;
};

// Fills `lanes` with `count` duplicates of `parent`. Collective but non-blocking: MPI's blocking forms poll without
// yielding, which takes a quarter of a second per group where ranks outnumber cores. `node` is the same number on all ranks
// of a node.
std::unique_ptr<Operation> make_lane_creation(std::shared_ptr<Lanes> lanes, MPI_Comm parent, int count,
                                              int node);
void free_lanes(Lanes& lanes);

}  // namespace mastic::comm::detail
