// Roll calls (see roll_call.hpp) over MPI, for all groups of a session.
#pragma once

#include <memory>

#include <mpi.h>

#include <mastic/comm/roll_call.hpp>

namespace mastic::comm::detail {

// Has a communicator of its own, which lives as long as the process: a word that was never read cannot meet another
// communicator of the same context. Processes are ranks of `world`. Collective.
std::shared_ptr<RollPost> make_roll_post(MPI_Comm world, bool works_when_idle);

}  // namespace mastic::comm::detail
