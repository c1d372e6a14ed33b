// Where things lie in the shared file of a rank; the same in all files of a node, but for the length of the arena.
//
//   flags        per lane: written by the owner, read by all
//   ring states  per peer and lane: of the stream to that peer
//   slots        per lane: two, of one_shot_bytes each (see shm_lane.hpp)
//   cycles       per lane: of what comes in, and of what goes out, to be copied in pieces (see shm_lane.hpp)
//   ring data    per peer and lane
//   arena        for ShmNode::allocate
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mastic::comm::detail {

// Neighbouring cache lines are fetched in pairs, so what different ranks write lies two lines apart.
inline constexpr std::size_t line_bytes = 128;

// Of a cycle, at a time. A piece should fit in a core's cache with those of a few peers beside it, and pay for the
// synchronisation that it needs.
inline constexpr std::size_t piece_bytes = std::size_t(128) << 10;
// Streams go round in rings of the same length. A long cycle is better: a line that comes round again has left the second caches by then. To write or to read one that is
// still in another core's takes several times as long as one from the cache that they share (on a Zen 4, 64 KiB between two
// ranks: 9.4 us with a cycle of 128 KiB, 5.1 with 1 MiB; beyond that large messages lose again).
inline constexpr std::size_t longest_cycle = std::size_t(1) << 20;
inline constexpr std::size_t shortest_cycle = 4 * piece_bytes;

// What a rank tells its peers at the beginning of a phase.
struct Offer {
    // Whether a private buffer may be copied through the cycles, as this rank sees it.
    enum class Copy : std::uint64_t { impossible, possible, preferred };

    std::uint64_t address = 0;  // of its buffer, in its own address space
    std::uint64_t bytes = 0;
    Copy copy = Copy::impossible;
};

struct alignas(line_bytes) LaneFlags {
    std::atomic<std::uint64_t> phase;
    Offer offers[2];  // of an even and an odd phase
};

struct RingState {
    alignas(line_bytes) std::atomic<std::uint64_t> sent;      // bytes so far; written by the sender
    alignas(line_bytes) std::atomic<std::uint64_t> received;  // bytes so far; written by the receiver
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");

class NodeLayout {
  public:
    NodeLayout(int ranks, int lanes)
        : ranks_(static_cast<std::size_t>(ranks)), lanes_(static_cast<std::size_t>(lanes)) {}

    // Offsets in bytes.
    std::size_t flags(int lane) const { return static_cast<std::size_t>(lane) * sizeof(LaneFlags); }
    std::size_t ring_state(int peer, int lane) const {
        return rings() + ring_index(peer, lane) * sizeof(RingState);
    }
    std::size_t slot(int lane, std::uint64_t phase) const {
        return states_bytes() + (2 * static_cast<std::size_t>(lane) + phase % 2) * slot_bytes();
    }
    std::size_t cycle_in(int lane) const { return cycle(2 * static_cast<std::size_t>(lane)); }
    std::size_t cycle_out(int lane) const { return cycle(2 * static_cast<std::size_t>(lane) + 1); }
    std::size_t ring_data(int peer, int lane) const { return cycle(2 * lanes_ + ring_index(peer, lane)); }
    std::size_t arena() const { return cycle((2 + ranks_) * lanes_); }

    // Bytes of flags and ring states, whole pages.
    std::size_t states_bytes() const;
    std::size_t slot_bytes() const;  // whole pages
    int lanes() const { return static_cast<int>(lanes_); }

  private:
    std::size_t rings() const { return lanes_ * sizeof(LaneFlags); }
    std::size_t ring_index(int peer, int lane) const {
        return static_cast<std::size_t>(peer) * lanes_ + static_cast<std::size_t>(lane);
    }
    std::size_t cycle(std::size_t index) const {
        return states_bytes() + 2 * lanes_ * slot_bytes() + index * longest_cycle;
    }

    std::size_t ranks_;
    std::size_t lanes_;
};

// The largest message that goes through slots at once, on a node of so many ranks: each rank reads it from each other.
std::size_t one_shot_bytes(int ranks);

}  // namespace mastic::comm::detail
