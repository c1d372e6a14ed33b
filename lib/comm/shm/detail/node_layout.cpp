#include <mastic/comm/shm/detail/node_layout.hpp>

#include <algorithm>

#include <mastic/comm/shm/detail/shared_file.hpp>

namespace mastic::comm::detail {

std::size_t NodeLayout::states_bytes() const {
    return whole_pages(rings() + ranks_ * lanes_ * sizeof(RingState));
}

std::size_t NodeLayout::slot_bytes() const {
    return whole_pages(one_shot_bytes(static_cast<int>(ranks_)));
}

std::size_t one_shot_bytes(int ranks) {
    constexpr std::size_t of_two_ranks = 16 << 10;
    constexpr std::size_t least = 4 << 10;
    const std::size_t others = static_cast<std::size_t>(std::max(ranks - 1, 1));
    return std::max(of_two_ranks / others, least);
}

}  // namespace mastic::comm::detail
