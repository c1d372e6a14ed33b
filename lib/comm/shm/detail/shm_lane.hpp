// The phases of a lane: how its operations keep step, without waiting.
//
// A phase begins at a rank when it publishes it, and has come when all ranks have published it. A rank publishes phase
// e + 1 only after it is done with what phase e allowed. So, without further synchronisation:
//   slot of phase e, piece that came in   written by its owner before it publishes e, read by all when e has come
//   piece that goes out in phase e        written by its owner when e has come, read by all when e + 1 has come
// Two of each are enough: when e + 1 has come, everybody is done with what came in with e and went out with e - 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mastic/comm/shm/detail/node_memory.hpp>
#include <mastic/comm/shm/detail/piece_cycle.hpp>

namespace mastic::comm::detail {

class ShmLane {
  public:
    // `looks`: how often to look for a late peer before has_come() says no.
    ShmLane(NodeMemory& memory, int lane, int looks);

    NodeMemory& memory() const { return memory_; }
    int rank() const { return memory_.rank(); }
    int size() const { return memory_.size(); }
    int lane() const { return lane_; }

    void publish(const Offer& offer = {});
    bool has_come();
    // Of the phase that has come.
    const Offer& offer_of(int rank) const;

    std::byte* next_slot() const { return memory_.at(rank(), memory_.layout().slot(lane_, phase_ + 1)); }
    std::byte* slot_of(int rank) const { return memory_.at(rank, memory_.layout().slot(lane_, phase_)); }

    // Reserved: see NodeMemory. All ranks move on alike.
    PieceCycle& in() { return in_; }
    PieceCycle& out() { return out_; }
    std::byte* in_of(int rank, std::size_t place) const {
        return memory_.at(rank, memory_.layout().cycle_in(lane_) + place);
    }
    std::byte* out_of(int rank, std::size_t place) const {
        return memory_.at(rank, memory_.layout().cycle_out(lane_) + place);
    }
    // The first time, so that none of it is missing in this process's page table when time matters.
    void touch_cycles();

    // `bytes` of private memory, for what is read from other processes; it keeps its size.
    std::byte* scratch(std::size_t bytes);

  private:
    LaneFlags& flags_of(int rank) const;

    NodeMemory& memory_;
    int lane_;
    int looks_;
    std::uint64_t phase_ = 0;
    int arrived_ = 0;                // ranks below this one have published the phase
    std::vector<LaneFlags*> flags_;  // by rank
    PieceCycle in_;
    PieceCycle out_;
    bool touched_ = false;
    std::vector<std::byte> scratch_;
};

}  // namespace mastic::comm::detail
