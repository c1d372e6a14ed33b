#include <sched.h>

#include <mastic/comm/mpi/detail/check.hpp>
#include <mastic/comm/mpi/detail/runtime.hpp>

namespace mastic::comm::detail {

Placement find_placement(MPI_Comm world) {
    Placement placement;
    check(MPI_Comm_rank(world, &placement.rank), "MPI_Comm_rank");
    check(MPI_Comm_size(world, &placement.size), "MPI_Comm_size");
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, placement.rank, MPI_INFO_NULL, &node),
          "MPI_Comm_split_type");
    check(MPI_Comm_rank(node, &placement.local_rank), "MPI_Comm_rank");
    check(MPI_Comm_size(node, &placement.local_size), "MPI_Comm_size");
    // Bound ranks have a core each, unbound ones share all: the union of their masks counts both rightly.
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof(cores), &cores);
    check(MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof(cores), MPI_BYTE, MPI_BOR, node), "MPI_Allreduce");
    placement.cores_per_rank = static_cast<double>(CPU_COUNT(&cores)) / placement.local_size;
    placement.node = placement.rank;
    check(MPI_Bcast(&placement.node, 1, MPI_INT, 0, node), "MPI_Bcast");
    const int leader = placement.local_rank == 0 ? 1 : 0;
    check(MPI_Allreduce(&leader, &placement.nodes, 1, MPI_INT, MPI_SUM, world), "MPI_Allreduce");
    check(MPI_Comm_free(&node), "MPI_Comm_free");
    return placement;
}

}  // namespace mastic::comm::detail
