// The collective operations of one group over the transports that it has: from a Choice to an Operation.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <mastic/comm/group.hpp>
#include <mastic/comm/operation.hpp>
#include <mastic/comm/plan/schedule.hpp>
#include <mastic/comm/selection.hpp>
#include <mastic/comm/shm/shm_node.hpp>
#include <mastic/comm/topology.hpp>
#include <mastic/comm/transport.hpp>

namespace mastic::comm {

struct CollectiveParts {
    std::shared_ptr<ShmNode> node;   // its ranks are the local ranks; null: no shared memory, or alone on the node
    bool shares_nodes = false;       // the same on all ranks: those that are not alone on their node have `node`
    std::unique_ptr<Transport> mpi;  // of all ranks; null: not used
    std::unique_ptr<Transport> tcp;  // of all ranks; null: not used
};

class Collectives {
  public:
    Collectives(Topology topology, CollectiveParts parts);

    // The buffers are checked; the choice is not native. Throws Error(usage) for a choice that is impossible here.
    // Operations of one lane run one after the other, the same on all ranks.
    std::unique_ptr<Operation> make_allreduce(int lane, BufferView buffer, ReduceOp op, const Choice& choice);
    std::unique_ptr<Operation> make_broadcast(int lane, BufferView buffer, int root, const Choice& choice);
    // Every rank contributes size() * receive.count elements and gets the reduction of part `rank`.
    std::unique_ptr<Operation> make_reduce_scatter(int lane, BufferView send, BufferView receive, ReduceOp op,
                                                   const Choice& choice);
    std::unique_ptr<Operation> make_allgather(int lane, BufferView send, BufferView receive, const Choice& choice);

    // By an allreduce of one byte.
    std::unique_ptr<Operation> make_barrier(int lane, const Choice& choice);

    ShmNode* node() { return parts_.node.get(); }
    bool has(TransportKind kind) const;
    std::string description() const;

  private:
    using ScheduleKey = std::tuple<Collective, std::string, int, int, int>;  // algorithm, rank, size, root

    Transport& transport(const Choice& choice);
    std::shared_ptr<const PlanSchedule> schedule(Collective collective, const Choice& choice, int rank, int size,
                                                 int root);
    std::unique_ptr<Operation> make_hierarchical(int lane, BufferView buffer, ReduceOp op, const Choice& choice);

    Topology topology_;
    CollectiveParts parts_;
    std::unique_ptr<Transport> mixed_mpi_;
    std::unique_ptr<Transport> mixed_tcp_;
    std::unique_ptr<Transport> across_mpi_;
    std::unique_ptr<Transport> across_tcp_;
    std::map<ScheduleKey, std::shared_ptr<const PlanSchedule>> schedules_;
};

}  // namespace mastic::comm
