#include <mastic/comm/shm/detail/segmented_copy.hpp>

#include <algorithm>
#include <cstring>

namespace mastic::comm::detail {

SegmentedCopy::SegmentedCopy(ShmLane& lane, const ShmWork& work) : lane_(lane), work_(work) {
    constexpr std::size_t alignment = 64;
    const std::size_t room =
        slot_bytes / static_cast<std::size_t>(work_.parts.blocks()) / alignment * alignment;
    const std::size_t most = work_.largest_part();
    slice_size_ = std::clamp<std::size_t>(room / size_of(work_.buffer.type), 1, most);
    segments_ = (most + slice_size_ - 1) / slice_size_;
}

std::size_t SegmentedCopy::used_slot_bytes() const {
    return work_.bytes(slice_size_) * static_cast<std::size_t>(work_.parts.blocks());
}

SegmentedCopy::Slice SegmentedCopy::slice(int part, std::size_t segment) const {
    const std::size_t offset = std::min(segment * slice_size_, work_.parts.size(part));
    return {work_.parts.begin(part) + offset, std::min(slice_size_, work_.parts.size(part) - offset),
            static_cast<std::size_t>(part) * work_.bytes(slice_size_)};
}

// The sums of the last segment of an allreduce are taken in a phase of their own.
std::size_t SegmentedCopy::phases() const {
    return segments_ + (work_.kind == ShmWork::Kind::allreduce ? 1 : 0);
}

void SegmentedCopy::start() {
    put();
}

Step SegmentedCopy::step() {
    if (!lane_.has_come()) {
        return Step::waiting;
    }
    if (work_.reduces() && phase_ < segments_) {
        reduce_own_slice();
    }
    if (work_.kind == ShmWork::Kind::spread) {
        take(phase_, true);
    } else if (work_.spreads() && phase_ > 0) {
        take(phase_ - 1, false);
    }
    if (++phase_ == phases()) {
        return Step::complete;
    }
    put();
    return Step::advanced;
}

// To reduce: what others own. To spread: what this rank owns.
void SegmentedCopy::put() {
    for (int part = 0; part < work_.parts.blocks() && phase_ < segments_; ++part) {
        if ((part == lane_.rank()) != work_.reduces()) {
            const Slice mine = slice(part, phase_);
            std::memcpy(lane_.next_in_slot() + mine.place, work_.at(mine.begin), work_.bytes(mine.count));
        }
    }
    lane_.publish();
}

// In pieces that stay in the first cache while all ranks' contributions are added.
void SegmentedCopy::reduce_own_slice() {
    if (!work_.owns_part(lane_.rank())) {
        return;
    }
    const Slice own = slice(lane_.rank(), phase_);
    const std::size_t piece = (std::size_t(8) << 10) / size_of(work_.buffer.type);
    for (std::size_t done = 0; done < own.count; done += piece) {
        const std::size_t count = std::min(piece, own.count - done);
        std::byte* sum = work_.at(own.begin + done);
        const std::size_t place = own.place + work_.bytes(done);
        for (int rank = 0; rank < lane_.size(); ++rank) {
            if (rank != lane_.rank()) {
                work_.reduce(sum, lane_.in_slot_of(rank) + place, count);
            }
        }
        work_.finish(sum, count);
        if (work_.spreads()) {
            std::memcpy(lane_.out_slot() + place, sum, work_.bytes(count));
        }
    }
}

void SegmentedCopy::take(std::size_t segment, bool from_in_slots) {
    for (int part = 0; part < work_.parts.blocks(); ++part) {
        if (part != lane_.rank()) {
            const Slice from = slice(part, segment);
            const std::byte* slot = from_in_slots ? lane_.in_slot_of(part) : lane_.last_out_slot_of(part);
            std::memcpy(work_.at(from.begin), slot + from.place, work_.bytes(from.count));
        }
    }
}

}  // namespace mastic::comm::detail
