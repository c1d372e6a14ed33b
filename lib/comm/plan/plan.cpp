#include <mastic/comm/plan/plan.hpp>

#include <algorithm>

namespace mastic::comm {

namespace {

std::size_t units_of(std::size_t count, std::size_t alignment) {
    return count / alignment + (count % alignment != 0);
}

}  // namespace

BlockLayout::BlockLayout(std::size_t count, int blocks, std::size_t alignment)
    : count_(count),
      blocks_(blocks),
      alignment_(units_of(count, alignment) < static_cast<std::size_t>(blocks) ? 1 : alignment),
      units_(units_of(count, alignment_)) {}

std::size_t BlockLayout::begin(int block) const {
    // units * block / blocks, without overflow for any count.
    const auto blocks = static_cast<std::size_t>(blocks_);
    const auto index = static_cast<std::size_t>(block);
    const std::size_t unit = units_ / blocks * index + units_ % blocks * index / blocks;
    return std::min(count_, unit * alignment_);
}

}  // namespace mastic::comm
