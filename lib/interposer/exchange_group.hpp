// The group through which the ranks of a communicator set up their transports: plain blocking calls of MPI.
#pragma once

#include <memory>

#include <mpi.h>

#include <mastic/comm/group.hpp>
#include <mastic/comm/topology.hpp>

namespace mastic::interposer {

// On the program's own communicator: inside one of its collective calls, all ranks are here and nothing else can come
// between, so no copy is needed, which would take one of MPI's few context numbers and call the program's attribute
// callbacks. Its start_* return when all is done; reductions of int32, broadcast, allgather, barrier and split only.
std::unique_ptr<comm::Group> make_exchange_group(MPI_Comm comm);

// Collective. Ranks share a node where they share the running kernel and the directory of shared memory.
comm::Topology find_topology(comm::Group& exchange);

}  // namespace mastic::interposer
