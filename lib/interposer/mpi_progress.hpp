// MPI moves messages and one-sided accesses on while the process is in one of its calls. A rank that waits for mastic may have
// peers who wait for that.
#pragma once

#include <mpi.h>

namespace mastic::interposer {

class MpiProgress {
  public:
    MpiProgress();  // throws Error(collective)
    ~MpiProgress();
    MpiProgress(const MpiProgress&) = delete;
    MpiProgress& operator=(const MpiProgress&) = delete;

    void advance();

  private:
    // Never completes. MPI_Iprobe would do for messages, but MPICH 4.0 makes no one-sided progress in it.
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace mastic::interposer
