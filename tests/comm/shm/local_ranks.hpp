// Ranks without MPI: child processes that share a page to meet on, and the Group that ShmNode::create needs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <mastic/comm/group.hpp>
#include <mastic/comm/operation.hpp>

namespace mastic::test {

// Only start_allgather and start_barrier, which wait; at most 64 KiB from each rank.
class LocalGroup : public comm::Group {
  public:
    struct Meeting;  // in memory that all ranks share
    LocalGroup(std::shared_ptr<Meeting> meeting, int rank, int size);

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    comm::Request start_allgather(comm::BufferView send, comm::BufferView receive,
                                  const comm::OperationOptions& options) override;
    comm::Request start_barrier(const comm::OperationOptions& options) override;

    comm::Request start_allreduce(comm::BufferView, comm::ReduceOp, const comm::OperationOptions&) override;
    comm::Request start_broadcast(comm::BufferView, int, const comm::OperationOptions&) override;
    std::shared_ptr<void> allocate(std::size_t) override;
    std::string description() const override { return "local processes"; }

  private:
    void meet();

    std::shared_ptr<Meeting> meeting_;
    int rank_;
    int size_;
    std::uint64_t met_ = 0;
};

// Runs `body` in `ranks` child processes, each of which ends after 30 s at the latest. Returns their wait statuses: 0 if
// nothing was thrown and no assertion failed.
std::vector<int> run_ranks(int ranks, const std::function<void(LocalGroup& group)>& body);

// The same, and fails the test unless all statuses are 0.
void expect_ranks(int ranks, const std::function<void(LocalGroup& group)>& body);

// Ranks may outnumber cores here: who naps leaves the core to others, and is woken before a computing process ends its
// time slice, which is not so after a yield.
void nap();

// start(), then step() until it is complete, with naps while nothing comes.
void drive(comm::Operation& operation);

}  // namespace mastic::test
