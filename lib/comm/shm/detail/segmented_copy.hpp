// Private buffers of processes that cannot, or had better not, read each other: copied through shared memory, segment by
// segment, with one synchronisation per segment.
//
// Segment i has a slice of each part. In phase i every rank has put its slices into a piece of its cycle `in`; the owner of
// a part adds up its slices and puts the sum into a piece of `out`, from which all take it in phase i + 1, while segment
// i + 1 is reduced. Of two ranks each takes the sum from where it had put its slice: fewer cache lines move. Ranks are added
// in the order in which InPlace adds them: both give the same bits.
#pragma once

#include <cstddef>

#include <mastic/comm/operation.hpp>
#include <mastic/comm/shm/detail/shm_lane.hpp>
#include <mastic/comm/shm/detail/shm_work.hpp>

namespace mastic::comm::detail {

class SegmentedCopy : public Operation {
  public:
    // At least one element. The lane's cycles must be reserved unless fits_slots().
    SegmentedCopy(ShmLane& lane, const ShmWork& work);
    void start() override;
    Step step() override;

    // One segment, without sums to hand out, as small as one-shot messages: it needs no more than the lane's slots.
    bool fits_slots() const;

  private:
    struct Slice {
        std::byte* data = nullptr;  // in the buffer
        std::size_t count = 0;      // elements
    };
    Slice slice(int part, std::size_t segment) const;
    std::size_t slices_in_piece() const;
    std::size_t phases() const;
    std::byte* next_piece();
    std::byte* slice_in_piece_of(int rank, int part) const;   // of the phase that has come
    std::size_t place_in_piece_of(int rank, int part) const;  // bytes
    void put();
    void reduce_own_slice();
    void reduce_bits(std::size_t begin, std::size_t count);  // of the own slice of the phase; elements
    void take_spread();
    void take_sums(std::size_t segment, std::size_t place);
    bool returns_sums() const { return lane_.size() == 2; }  // to where the slices are

    ShmLane& lane_;
    ShmWork work_;
    std::size_t slice_size_;   // elements; the last one of a part may be shorter
    std::size_t slice_bytes_;  // with what aligns the next one
    std::size_t segments_;
    std::size_t phase_ = 0;
    std::size_t sums_ = 0;  // where those of the last phase are, in the cycles
};

}  // namespace mastic::comm::detail
