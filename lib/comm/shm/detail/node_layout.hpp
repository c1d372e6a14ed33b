// Where things lie in the shared file of a rank; the same in all files of a node, but for the length of the arena.
//
//   flags        per lane: written by the owner, read by all
//   ring states  per peer and lane: of the stream to that peer
//   slots        per lane: in[2], then out[2], of slot_bytes each (see shm_lane.hpp)
//   ring data    per peer and lane
//   arena        for ShmNode::allocate
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mastic::comm::detail {

// Neighbouring cache lines are fetched in pairs, so what different ranks write lies two lines apart.
inline constexpr std::size_t line_bytes = 128;

// A slot should fit in a core's cache with the slots of a few peers beside it.
inline constexpr std::size_t slot_bytes = std::size_t(128) << 10;
inline constexpr std::size_t ring_bytes = std::size_t(128) << 10;

// What a rank tells its peers at the beginning of a phase.
struct Offer {
    std::uint64_t address = 0;  // of its buffer, in its own address space
    std::uint64_t bytes = 0;
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
    std::size_t in_slot(int lane, std::uint64_t phase) const { return slot(lane, phase % 2); }
    std::size_t out_slot(int lane, std::uint64_t phase) const { return slot(lane, 2 + phase % 2); }
    std::size_t ring_data(int peer, int lane) const {
        return slot(0, 4 * lanes_) + ring_index(peer, lane) * ring_bytes;
    }
    std::size_t arena() const { return slot(0, 4 * lanes_) + ranks_ * lanes_ * ring_bytes; }

    // Bytes of flags and ring states, whole pages.
    std::size_t states_bytes() const;
    int lanes() const { return static_cast<int>(lanes_); }

  private:
    std::size_t rings() const { return lanes_ * sizeof(LaneFlags); }
    std::size_t ring_index(int peer, int lane) const {
        return static_cast<std::size_t>(peer) * lanes_ + static_cast<std::size_t>(lane);
    }
    std::size_t slot(int lane, std::uint64_t index) const {
        return states_bytes() + (4 * static_cast<std::size_t>(lane) + index) * slot_bytes;
    }

    std::size_t ranks_;
    std::size_t lanes_;
};

// The largest message that goes through slots at once, on a node of so many ranks: each rank reads it from each other.
std::size_t one_shot_bytes(int ranks);

}  // namespace mastic::comm::detail
