// Cutting one buffer into segments that are reduced as a pipeline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include <mastic/core/bytes.hpp>

namespace mastic::comm {

struct Segment {
    std::size_t offset = 0;  // elements
    std::size_t count = 0;   // elements
};

// Equal segments (the last one may be shorter) of at most `segment` bytes, at least one element, and never
// more elements than an MPI count (int) can say. No elements: no segments. A segment size of 0 means one
// segment where that fits.
class SegmentPlan {
  public:
    SegmentPlan(std::size_t count, std::size_t element_bytes, Bytes segment) : count_(count) {
        constexpr std::size_t most = std::numeric_limits<int>::max();
        const std::size_t wanted = segment.count == 0 ? most : segment.count / element_bytes;
        per_segment_ = std::clamp<std::size_t>(wanted, 1, most / element_bytes);
    }

    std::size_t size() const { return count_ / per_segment_ + (count_ % per_segment_ != 0); }
    Segment operator[](std::size_t index) const {
        const std::size_t offset = index * per_segment_;
        return {offset, std::min(per_segment_, count_ - offset)};
    }

  private:
    std::size_t count_;
    std::size_t per_segment_;
};

}  // namespace mastic::comm
