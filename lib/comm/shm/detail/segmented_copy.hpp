// Private buffers of processes that cannot read each other: copied through slots, segment by segment, with one
// synchronisation per segment.
//
// Segment i has a slice of each part. In phase i every rank has put its slices into its in slot; the owner of a part
// adds up its slices and puts the sum into its out slot, from which all take it in phase i + 1, while segment i + 1 is
// reduced.
#pragma once

#include <cstddef>

#include <mastic/comm/operation.hpp>
#include <mastic/comm/shm/detail/shm_lane.hpp>
#include <mastic/comm/shm/detail/shm_work.hpp>

namespace mastic::comm::detail {

class SegmentedCopy : public Operation {
  public:
    // At least one element. Beyond one_shot_bytes() the lane's slots must be reserved.
    SegmentedCopy(ShmLane& lane, const ShmWork& work);
    void start() override;
    Step step() override;

    // What a segment needs of a slot.
    std::size_t used_slot_bytes() const;

  private:
    struct Slice {
        std::size_t begin = 0;  // elements
        std::size_t count = 0;  // elements
        std::size_t place = 0;  // bytes, in the slot
    };
    Slice slice(int part, std::size_t segment) const;
    std::size_t phases() const;
    void put();
    void reduce_own_slice();
    void take(std::size_t segment, bool from_in_slots);

    ShmLane& lane_;
    ShmWork work_;
    std::size_t slice_size_;  // elements; the last one of a part may be shorter
    std::size_t segments_;
    std::size_t phase_ = 0;
};

}  // namespace mastic::comm::detail
