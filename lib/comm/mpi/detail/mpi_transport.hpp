// Streams over MPI point-to-point messages, for fabrics that the MPI library drives best.
#pragma once

#include <memory>

#include <mpi.h>

#include <mastic/comm/transport.hpp>

namespace mastic::comm::detail {

// Sends up to `depth` messages of a stream at once, straight from the sender's memory; a message is what one call of
// send() was given. Messages are received into the receiver's memory where they fit there. A lane is a tag of `comm`.
std::unique_ptr<Transport> make_mpi_transport(MPI_Comm comm, int depth);

}  // namespace mastic::comm::detail
