// The launcher as PMIx shows it: who this process is among those that were started together, and a board on which they
// exchange small texts (addresses) without MPI. Of `srun --mpi=pmix`, prterun and their like; after the PMIx standard 4.
//
// Without the PMIx library at build time there is a client that never connects (pmix_client_unavailable.cpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <mastic/core/duration.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::job {

struct PmixPlace {
    int rank = 0;
    int world_size = 1;
    int local_rank = 0;
    std::vector<int> local_peers;    // ranks on this node, ascending, this one among them
    std::vector<std::string> nodes;  // host names in the launcher's order
    int node_index = 0;              // of this node in `nodes`
};

class PmixClient {
  public:
    virtual ~PmixClient() = default;

    // Null if nobody started this process under PMIx (PMIX_NAMESPACE is not set) or mastic was built without it. Throws
    // Error(environment) if there is a launcher that does not answer. One client in a process.
    static std::unique_ptr<PmixClient> connect(const Environment& environment);
    static bool available();  // built with PMIx

    virtual const PmixPlace& place() const = 0;
    // A text for the others, visible after the fence that all of them enter.
    virtual void put(const std::string& key, const std::string& value) = 0;
    // Throws Error(collective) if not all have come after `timeout`.
    virtual void fence(Seconds timeout) = 0;
    // What `rank` put. Throws Error(collective) if there is no such text.
    virtual std::string get(int rank, const std::string& key) = 0;
};

}  // namespace mastic::job
