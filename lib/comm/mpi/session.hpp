// MPI of this process, from MPI_Init to its end. All MPI calls of the session's groups happen on one progress
// thread, so MPI_THREAD_SERIALIZED is enough, however many groups there are.
//
// A program ends with finish(): MPI_Finalize of MPICH 4.0.2 hangs now and then, and a rank that leaves before
// the others makes the launcher kill them. finish() waits (bounded) for all ranks, finalizes under a watchdog
// and leaves with the run's own code.
#pragma once

#include <memory>
#include <string>

#include <mastic/comm/group.hpp>
#include <mastic/comm/options.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::comm {

struct SessionOptions {
    Seconds last_barrier{60};  // how long a rank that succeeded waits for the others at its end
    Seconds finalize{5};       // how long MPI_Finalize may take; also the last barrier of a rank that failed
};

class MpiSession {
  public:
    // Starts MPI, or joins it if the program has (then it must be at thread level serialized or multiple, and
    // only the session's progress thread may call MPI while operations are in flight). Throws Error(environment).
    explicit MpiSession(const SessionOptions& options = {});
    // For a session that ends by an exception: MPI_Finalize under the watchdog, which leaves with code 7.
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    int rank() const;
    int size() const;
    int local_rank() const;  // among the ranks of this node (those that can share memory)
    int local_size() const;
    int nodes() const;
    int node() const;  // the lowest rank of this node
    // Cores that the ranks of this node may use together, divided by their number.
    double cores_per_rank() const;

    // A group of all ranks. Collective: all ranks make the same groups in the same order.
    std::unique_ptr<Group> make_group(const GroupOptions& options);

    // The only exits of this library. Both flush the logs. finish: `code` 0 and 75 are ends in good order,
    // which wait for the other ranks. abort: takes all ranks down at once.
    [[noreturn]] void finish(int code);
    [[noreturn]] void abort(int code);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// "MPICH 4.0.2": the library that runs, and the one whose headers this was built with. Callable before MPI starts.
std::string mpi_library_version();
std::string mpi_library_text();  // all that the library says of itself: how it was configured, too
std::string mpi_header_version();

}  // namespace mastic::comm
