// Who sends what to whom in one collective operation: the steps of one rank, as data. Nothing here communicates; a
// PlanOperation runs a plan over any Transport, and a test runs the plans of all ranks in one process.
//
// The buffer is cut into `blocks` blocks (BlockLayout). What a plan means:
// 1. Between two ranks, in each direction, steps transfer in the order of the list. The n-th send of rank a to rank b has
//    the blocks of the n-th receive of b from a.
// 2. On each block, steps follow one another in the order of the list, byte by byte: none gets further into a block than
//    the step before it on that block. So a block may be passed on while it is still being received (cut-through),
//    and steps that share no block run side by side.
// 3. A step goes through its blocks in their order, from `first_block` on, modulo `blocks`.
//
// Why no plan deadlocks: each transfer belongs to a round, the same at both ends, and every rank lists its steps by
// round. By the rules an element of a transfer waits for elements of earlier rounds and for those before it in its own
// round and stream, so the wait graph has no cycle even if streams hold nothing and an element passes only when
// sender and receiver are both at it. One exception: where a rank sends and reduces the same block in one round
// (recursive doubling, an exchange), each end waits for the other's element; there a stream must hold one element, or the
// receiver take it aside.
//
// Why ranks agree to the bit, also where a send rounds the sender's own blocks to what it sent (wire.hpp): a block is
// finished on one rank and spread by sends, which round all copies alike; or computed by several ranks from the same two
// operands, both of which were sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mastic::comm {

enum class Action : std::uint8_t {
    send,
    receive,         // replaces the blocks
    receive_reduce,  // block = block op received
};

struct PlanStep {
    Action action = Action::send;
    int peer = 0;  // rank in the group
    int first_block = 0;
    int block_count = 1;  // 1 to Plan::blocks

    bool operator==(const PlanStep&) const = default;
};

struct Plan {
    int blocks = 1;
    std::vector<PlanStep> steps;
};

// `count` elements in `blocks` nearly equal parts, each beginning at a multiple of `alignment` elements where that leaves
// none of them empty; with fewer elements than blocks some are empty. With an alignment of 1, parts differ by at most one
// element: reduce_scatter and allgather need that, because their parts are exactly equal.
class BlockLayout {
  public:
    BlockLayout(std::size_t count, int blocks, std::size_t alignment = 64);

    std::size_t begin(int block) const;  // elements; begin(blocks()) is count()
    std::size_t size(int block) const { return begin(block + 1) - begin(block); }
    std::size_t count() const { return count_; }
    int blocks() const { return blocks_; }

  private:
    std::size_t count_;
    int blocks_;
    std::size_t alignment_;
    std::size_t units_;  // of `alignment_` elements, the last one cut short
};

}  // namespace mastic::comm
