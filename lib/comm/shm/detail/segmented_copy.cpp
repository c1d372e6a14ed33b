#include <mastic/comm/shm/detail/segmented_copy.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mastic::comm::detail {
namespace {

constexpr std::size_t alignment = 64;

}  // namespace

SegmentedCopy::SegmentedCopy(ShmLane& lane, const ShmWork& work) : lane_(lane), work_(work) {
    const std::size_t room = piece_bytes / slices_in_piece() / alignment * alignment;
    const std::size_t most = work_.largest_part();
    slice_size_ = std::clamp<std::size_t>(room / size_of(work_.buffer.type), 1, most);
    slice_bytes_ = (work_.bytes(slice_size_) + alignment - 1) / alignment * alignment;
    segments_ = (most + slice_size_ - 1) / slice_size_;
}

bool SegmentedCopy::fits_slots() const {
    return work_.kind != ShmWork::Kind::allreduce && segments_ == 1 &&
           slices_in_piece() * slice_bytes_ <= one_shot_bytes(lane_.size());
}

// To reduce: what others own, of which a rank without a part has the most. To spread: what this rank owns.
std::size_t SegmentedCopy::slices_in_piece() const {
    if (!work_.reduces()) {
        return 1;
    }
    const int parts = work_.parts.blocks();
    return static_cast<std::size_t>(parts == lane_.size() ? parts - 1 : parts);
}

SegmentedCopy::Slice SegmentedCopy::slice(int part, std::size_t segment) const {
    const std::size_t offset = std::min(segment * slice_size_, work_.parts.size(part));
    return {work_.at(work_.parts.begin(part) + offset),
            std::min(slice_size_, work_.parts.size(part) - offset)};
}

// The sums of the last segment of an allreduce are taken in a phase of their own.
std::size_t SegmentedCopy::phases() const {
    return segments_ + (work_.kind == ShmWork::Kind::allreduce ? 1 : 0);
}

std::byte* SegmentedCopy::next_piece() {
    if (fits_slots()) {
        return lane_.next_slot();
    }
    lane_.in().move_on(slices_in_piece() * slice_bytes_);
    return lane_.in_of(lane_.rank(), lane_.in().begin());
}

std::byte* SegmentedCopy::slice_in_piece_of(int rank, int part) const {
    std::byte* piece = fits_slots() ? lane_.slot_of(rank) : lane_.in_of(rank, lane_.in().begin());
    return piece + place_in_piece_of(rank, part);
}

std::size_t SegmentedCopy::place_in_piece_of(int rank, int part) const {
    if (!work_.reduces()) {
        return 0;
    }
    return static_cast<std::size_t>(part > rank ? part - 1 : part) * slice_bytes_;
}

void SegmentedCopy::start() {
    put();
}

Step SegmentedCopy::step() {
    if (!lane_.has_come()) {
        return Step::waiting;
    }
    if (!work_.reduces()) {
        take_spread();
    } else {
        const std::size_t last_sums = std::exchange(sums_, returns_sums() ? lane_.in().begin() : 0);
        if (phase_ < segments_) {
            reduce_own_slice();
        }
        if (work_.spreads() && phase_ > 0) {
            take_sums(phase_ - 1, last_sums);
        }
    }
    if (++phase_ == phases()) {
        return Step::complete;
    }
    put();
    return Step::advanced;
}

void SegmentedCopy::put() {
    if (phase_ < segments_) {
        std::byte* piece = next_piece();
        for (int part = 0; part < work_.parts.blocks(); ++part) {
            if ((part == lane_.rank()) != work_.reduces()) {
                const Slice mine = slice(part, phase_);
                std::memcpy(piece + place_in_piece_of(lane_.rank(), part), mine.data,
                            work_.bytes(mine.count));
            }
        }
    }
    lane_.publish();
}

void SegmentedCopy::reduce_own_slice() {
    if (work_.spreads() && !returns_sums()) {
        lane_.out().move_on(slice_bytes_);
        sums_ = lane_.out().begin();
    }
    if (!work_.owns_part(lane_.rank())) {
        return;
    }
    // Bits stay in the first cache while all ranks' contributions are added.
    const std::size_t most = (std::size_t(8) << 10) / size_of(work_.buffer.type);
    const std::size_t count = slice(lane_.rank(), phase_).count;
    for (std::size_t done = 0; done < count; done += most) {
        reduce_bits(done, std::min(most, count - done));
    }
}

void SegmentedCopy::reduce_bits(std::size_t begin, std::size_t count) {
    std::byte* sum = slice(lane_.rank(), phase_).data + work_.bytes(begin);
    const auto slice_of = [&](int rank) {
        return slice_in_piece_of(rank, lane_.rank()) + work_.bytes(begin);
    };
    if (returns_sums() && work_.spreads() && work_.average_over == 0) {
        work_.reduce_both(sum, slice_of(1 - lane_.rank()), count);
        return;
    }
    for (int step = 1; step < lane_.size(); ++step) {
        work_.reduce(sum, slice_of((lane_.rank() + step) % lane_.size()), count);
    }
    work_.finish(sum, count);
    if (work_.spreads()) {
        std::byte* out = returns_sums() ? slice_of(1 - lane_.rank())
                                        : lane_.out_of(lane_.rank(), sums_) + work_.bytes(begin);
        std::memcpy(out, sum, work_.bytes(count));
    }
}

void SegmentedCopy::take_spread() {
    for (int part = 0; part < work_.parts.blocks(); ++part) {
        if (part != lane_.rank()) {
            const Slice to = slice(part, phase_);
            std::memcpy(to.data, slice_in_piece_of(part, part), work_.bytes(to.count));
        }
    }
}

void SegmentedCopy::take_sums(std::size_t segment, std::size_t place) {
    for (int part = 0; part < work_.parts.blocks(); ++part) {
        if (part != lane_.rank()) {
            const Slice to = slice(part, segment);
            const std::byte* sum =
                returns_sums() ? lane_.in_of(lane_.rank(), place) : lane_.out_of(part, place);
            std::memcpy(to.data, sum, work_.bytes(to.count));
        }
    }
}

}  // namespace mastic::comm::detail
