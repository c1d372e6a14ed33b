// A word to the launcher that MPI_Finalize did not come to say.
#pragma once

#include <pthread.h>

namespace mastic::comm::detail {

// Tells Hydra (mpiexec of MPICH) that this process is done with MPI, and waits for its answer for at most half a
// second. A process that ends without it is taken for lost: Hydra kills the others and reports their signal instead
// of the code of the run. `hanging`, the thread in MPI_Finalize, is halted for good first: it may be waiting for
// another answer on the same socket, and takes this one for an error. Does nothing under other launchers. The wire
// format is PMI-1's, one line each way.
void tell_launcher_that_mpi_is_done(pthread_t hanging);

}  // namespace mastic::comm::detail
