// The operations of a group as the progress thread drives them. All run on the progress thread only.
#pragma once

#include <memory>
#include <vector>

#include <mpi.h>

#include <mastic/comm/group.hpp>
#include <mastic/comm/mpi/detail/reductions.hpp>
#include <mastic/comm/operation.hpp>
#include <mastic/comm/segments.hpp>

namespace mastic::comm::detail {

// Starts one non-blocking collective per segment, with at most `depth` of them in flight.
class SegmentedOperation : public Operation {
  public:
    SegmentedOperation(SegmentPlan plan, int depth);
    void start() override;
    Step step() override;

  protected:
    virtual MPI_Request begin(const Segment& segment) = 0;
    virtual void finish(const Segment&) {}

  private:
    void begin_next(std::size_t slot);

    SegmentPlan plan_;
    std::size_t next_ = 0;
    std::vector<MPI_Request> requests_;  // by slot
    std::vector<Segment> segments_;      // the segment in each slot
    std::vector<int> completed_;         // slots, filled by MPI_Testsome
};

struct Pipeline {
    Bytes segment;
    int depth = 1;
};

std::unique_ptr<Operation> make_pipelined_allreduce(MPI_Comm comm, BufferView buffer, ReduceOp op,
                                                    const Reductions& reductions, const Pipeline& pipeline);
std::unique_ptr<Operation> make_blocking_allreduce(MPI_Comm comm, BufferView buffer, ReduceOp op,
                                                   const Reductions& reductions);
std::unique_ptr<Operation> make_broadcast(MPI_Comm comm, BufferView buffer, int root,
                                          const Pipeline& pipeline);
std::unique_ptr<Operation> make_allgather(MPI_Comm comm, BufferView send, BufferView receive,
                                          const Pipeline& pipeline);
// One MPI_Ireduce_scatter_block of the whole.
std::unique_ptr<Operation> make_reduce_scatter(MPI_Comm comm, BufferView send, BufferView receive, ReduceOp op,
                                               const Reductions& reductions);
std::unique_ptr<Operation> make_barrier(MPI_Comm comm);

}  // namespace mastic::comm::detail
