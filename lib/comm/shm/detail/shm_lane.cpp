#include <mastic/comm/shm/detail/shm_lane.hpp>

#include <memory>

namespace mastic::comm::detail {
namespace {

// Tells the core that this is a loop that waits.
void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

ShmLane::ShmLane(NodeMemory& memory, int lane, int looks)
    : memory_(memory), lane_(lane), looks_(looks), in_(memory.cycle_bytes()), out_(memory.cycle_bytes()) {
    for (int rank = 0; rank < size(); ++rank) {
        // The file is zero there, which is the value of new flags.
        flags_.push_back(reinterpret_cast<LaneFlags*>(memory_.at(rank, memory_.layout().flags(lane_))));
    }
}

LaneFlags& ShmLane::flags_of(int rank) const {
    return *flags_[static_cast<std::size_t>(rank)];
}

void ShmLane::publish(const Offer& offer) {
    ++phase_;
    arrived_ = 0;
    LaneFlags& mine = flags_of(rank());
    mine.offers[phase_ % 2] = offer;
    mine.phase.store(phase_, std::memory_order_release);
}

bool ShmLane::has_come() {
    for (int look = 0; arrived_ < size();) {
        if (flags_of(arrived_).phase.load(std::memory_order_acquire) >= phase_) {
            ++arrived_;
        } else if (++look < looks_) {
            relax();
        } else {
            return false;
        }
    }
    return true;
}

const Offer& ShmLane::offer_of(int rank) const {
    return flags_of(rank).offers[phase_ % 2];
}

void ShmLane::touch_cycles() {
    for (int rank = 0; rank < size() && !touched_; ++rank) {
        for (std::size_t place = 0; place < memory_.cycle_bytes(); place += page_bytes()) {
            static_cast<void>(*static_cast<volatile std::byte*>(in_of(rank, place)));
            static_cast<void>(*static_cast<volatile std::byte*>(out_of(rank, place)));
        }
    }
    touched_ = true;
}

std::byte* ShmLane::scratch(std::size_t bytes) {
    if (scratch_.size() < bytes) {
        scratch_.resize(bytes);
    }
    return scratch_.data();
}

}  // namespace mastic::comm::detail
