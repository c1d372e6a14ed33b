// The ranks of the job, and parts of them in the shape of smaller jobs. The ranks that are not in a part sleep until it
// is done.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <mastic/comm/device/device.hpp>
#include <mastic/comm/mpi/session.hpp>
#include <mastic/tuning/candidates.hpp>
#include <mastic/tuning/command/command_context.hpp>
#include <mastic/tuning/group_shape.hpp>
#include <mastic/tuning/machine.hpp>

namespace mastic::tuning {

// The same ranks twice: with all transports to measure, and with native operations to agree on what was measured.
struct RankPart {
    std::unique_ptr<comm::Group> measured;
    std::unique_ptr<comm::Group> agreement;
};

class JobRanks {
  public:
    // Collective, as all functions below but the plain ones. Transports that cannot be had are told and left out.
    JobRanks(comm::MpiSession& session, const CommandContext& context);

    bool first() const { return session_.rank() == 0; }
    // All nodes, and the ranks of the fullest one.
    const GroupShape& whole() const { return whole_; }
    // Are there so many nodes with so many ranks?
    bool has(const GroupShape& shape) const;
    const std::vector<comm::TransportKind>& transports() const { return transports_; }
    const Machine& machine() const { return machine_; }  // of rank 0's node
    comm::Group& control() { return *control_; }
    // This rank's GPU; null unless the options measure device memory.
    const std::shared_ptr<comm::Device>& device() const { return device_; }

    // The first ranks of the first nodes. Null groups on the other ranks.
    RankPart part(const GroupShape& shape);
    // Sleeps until all ranks have come.
    void meet();
    // Rank 0's number, on all.
    double from_first(double value);

  private:
    void place();
    void open_device(const CommandContext& context);
    void open_transports(const CommandContext& context);
    void compare_machines();

    comm::MpiSession& session_;
    std::unique_ptr<comm::Group> control_;  // never spins
    std::unique_ptr<comm::Group> world_;    // with transports
    std::vector<comm::TransportKind> transports_;
    std::shared_ptr<comm::Device> device_;
    std::vector<int> ranks_of_node_;  // descending: by node, its number of ranks
    int node_place_ = 0;              // of this node, in that order
    GroupShape whole_;
    Machine machine_;
};

// The search space that the options describe.
CandidateLimits candidate_limits(const TuneOptions& options,
                                 const std::vector<comm::TransportKind>& transports);

// Runs a command's body between the start and the end of MPI. The body returns the exit code.
[[noreturn]] void with_ranks(const CommandContext& context, int (*body)(const CommandContext&, JobRanks&));

}  // namespace mastic::tuning
