// A word to the launcher that MPI_Finalize did not come to say.
#pragma once

#include <pthread.h>

namespace mastic::comm::detail {

// Tells Hydra (mpiexec of MPICH) that this process is done with MPI, and waits for its answer for at most half a
// second. A process that ends without it is taken for lost: Hydra kills the others and reports their signal instead
// of the code of the run. Does nothing under other launchers. The wire format is PMI-1's, one line each way. No thread
// may be in an MPI call that talks to the launcher.
void tell_launcher_that_mpi_is_done();

// The same while the thread `hanging` is in MPI_Finalize: that thread is halted for good first, since it may be waiting
// for another answer on the same socket, and would take this one for an error.
void tell_launcher_that_mpi_is_done(pthread_t hanging);

}  // namespace mastic::comm::detail
