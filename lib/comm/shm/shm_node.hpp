// The ranks of one node, which share memory: collectives that read and write each other's buffers, and streams for
// everything else.
//
// A rank reads a peer's buffer in one of these ways:
//   direct       both buffers come from allocate(): every rank reduces its part of all of them, in place
//   single-copy  private buffers, read and written by process_vm_readv and process_vm_writev (CMA), where the kernel
//                allows it
//   copy         private buffers, copied through shared memory, segment by segment
// Of the last two, where both are possible and each rank has a core, the one that turns out faster for the size. The order of
// additions is the same in all three, and so are the bits.
// Small private messages go through slots at once (one-shot), with one synchronisation and the sum taken by every rank in
// the same order.
//
// The memory is one file in /dev/shm per rank, 0600, unlinked before create() returns: nothing is left, however the
// processes end. Pages are reserved before they are used, so a full /dev/shm is an answer (allocate: null), not a SIGBUS.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <mastic/comm/group.hpp>
#include <mastic/comm/operation.hpp>
#include <mastic/comm/shm_method.hpp>
#include <mastic/comm/transport.hpp>

namespace mastic::comm {

struct ShmOptions {
    int lanes = 8;
    bool allow_single_copy = true;
    bool cores_to_spare = true;  // each rank has a core: step() looks a few times for a late peer (1 us)
    bool allocates = true;  // false: allocate() gives null, and no addresses are set aside for it
    std::string directory = "/dev/shm";  // of a file system in memory; for tests
};

class ShmNode {
  public:
    // Collective over `node`, the group of the ranks that share this node's memory. The same options on all. Throws the
    // same Error(environment) on all ranks if there is no room in /dev/shm for the slots. Must outlive its operations.
    static std::shared_ptr<ShmNode> create(Group& node, const ShmOptions& options);
    ~ShmNode();

    int rank() const;
    int size() const;
    bool single_copy() const;  // allowed by the kernel between all ranks

    // 64-byte aligned, zero-filled, shared with the other ranks; freed with the last owner. Null: no room left.
    std::shared_ptr<void> allocate(std::size_t bytes);

    // Operations of one lane run one after the other, the same on all ranks; those of different lanes in any order.
    // `automatic` decides by size and by where the buffers of all ranks lie. direct and single_copy throw
    // Error(usage) from step() where they are impossible. A rank that cannot read or write a peer's buffer makes all
    // ranks' step() throw Error(collective), when nobody uses the buffers any more. No elements: no synchronisation.
    std::unique_ptr<Operation> make_allreduce(int lane, BufferView buffer, ReduceOp op,
                                              ShmMethod method = ShmMethod::automatic);

    // The two halves of an allreduce, for a reduction between nodes in between. Part i of BlockLayout(count, parts) is
    // that of rank i; parts <= size(). After the first, a rank's own part holds the reduction over the node and its
    // other parts are undefined; after the second, every rank has all parts. `average` adds.
    std::unique_ptr<Operation> make_reduce_to_parts(int lane, BufferView buffer, ReduceOp op, int parts);
    std::unique_ptr<Operation> make_spread_parts(int lane, BufferView buffer, int parts);

    // Streams through shared memory, for the plans. Not event-driven.
    Transport& transport();
    std::string description() const;  // "shared memory", "shared memory (without single-copy)"

  private:
    struct Impl;
    explicit ShmNode(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace mastic::comm
