// What the groups of a session share, and outlives them.
#pragma once

#include <atomic>
#include <memory>

#include <mpi.h>

#include <mastic/comm/mpi/detail/reductions.hpp>
#include <mastic/comm/options.hpp>
#include <mastic/comm/progress_thread.hpp>
#include <mastic/comm/roll_call.hpp>

namespace mastic::comm::detail {

struct Placement {
    int rank = 0;
    int size = 1;
    int local_rank = 0;
    int local_size = 1;
    int nodes = 1;
    int node = 0;  // the lowest rank of this node
    double cores_per_rank = 1;
};
// Collective over all ranks.
Placement find_placement(MPI_Comm world);

struct Runtime {
    Reductions reductions;
    Placement placement;
    std::shared_ptr<RollPost> roll_post;
    std::atomic<int> groups_started{0};
    ProgressThread progress;
};

// A group of the ranks of `parent`, with communicators of its own. Collective over them; the caller's thread waits.
std::unique_ptr<Group> make_mpi_group(std::shared_ptr<Runtime> runtime, MPI_Comm parent,
                                      const GroupOptions& options);

}  // namespace mastic::comm::detail
