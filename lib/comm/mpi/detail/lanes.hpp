// The communicators of a group, one per lane (see operation_queue.hpp).
#pragma once

#include <cstdint>
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
    std::vector<int> node_of_rank;
    std::vector<int> processes;    // by rank
    std::uint64_t group_name = 0;  // the same on all ranks, of no other group of the session
};

// What a process contributes to the start of a group.
struct GroupStart {
    int node = 0;     // the same number on all processes of a node
    int process = 0;  // of no other process of the session
    int count = 0;    // of the groups that this process has started before
};

// Fills `lanes` with `count` duplicates of `parent`. Collective but non-blocking: MPI's blocking forms poll without
// yielding, which takes a quarter of a second per group where ranks outnumber cores.
std::unique_ptr<Operation> make_lane_creation(std::shared_ptr<Lanes> lanes, MPI_Comm parent, int count,
                                              const GroupStart& mine);
void free_lanes(Lanes& lanes);

}  // namespace mastic::comm::detail
