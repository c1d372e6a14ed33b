// A group over TCP alone, without MPI: its ranks know one another from a table. It can be left at any time, and another
// one be built in the same process: for memberships that change.
//
// Memory from allocate() is private, and ranks of one host reduce over its loopback.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <mastic/comm/collective/collective_group.hpp>
#include <mastic/comm/lost_rank.hpp>
#include <mastic/comm/tcp/tcp_transport.hpp>

namespace mastic::comm {

class TcpGroup : public CollectiveGroup {
  public:
    // Not collective: nobody waits for anybody before the first operation. `options`: the transport is TCP, whatever they
    // say; a native algorithm is Error(usage). `tcp.network` is not asked, since the table has the addresses.
    static std::unique_ptr<TcpGroup> open(TcpTable table, ListeningSocket listener,
                                          const GroupOptions& options, const TcpOptions& tcp = {});
    // Ends whatever is in flight with an error and closes all connections; bounded, and leaves no thread behind. Buffers
    // are free afterwards. Peers see closed connections.
    ~TcpGroup() override;

    int rank() const override { return table_.rank; }
    int size() const override { return static_cast<int>(table_.peers.size()); }
    std::unique_ptr<Group> split(int color, int key) override;  // the new group has a thread of its own
    std::string description() const override;

    // From any thread: all operations fail with Error(collective) `reason`, now and later.
    void abandon(const std::string& reason);
    // Peers that this rank saw lost; from any thread. An operation that met one failed with LostRankError, those behind it
    // with Error(collective). What this says is a hint: see lost_rank.hpp.
    std::vector<int> lost_ranks() const { return tcp_.losses->ranks(); }

  private:
    TcpGroup(std::shared_ptr<ProgressThread> progress, std::shared_ptr<ProgressThread::Channel> channel,
             TcpTable table, ListeningSocket listener, const GroupOptions& options, const TcpOptions& tcp);

    Native native_barrier(int lane, const OperationOptions& options) override;

    const TcpTable table_;
    const TcpOptions tcp_;
};

}  // namespace mastic::comm
