// Arithmetic of tensor slices: boxes in row-major arrays. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mastic::checkpoint {

using Extents = std::vector<std::int64_t>;

// The part [offset, offset + shape) of a tensor of `global_shape`; all three have the same number of
// dimensions.
struct Box {
    Extents shape;
    Extents offset;
    Extents global_shape;
};

// 1 for a scalar (no dimensions). Throws Error(checkpoint) for a negative extent or more than 2^63 - 1
// elements.
std::int64_t element_count(const Extents& shape);
std::string to_string(const Extents& extents);  // "(3, 4)", "()"

// What is wrong with the box ("offset (0, 3) + shape (2, 2) leaves (4, 4)"), or an empty text.
std::string box_problem(const Box& box);

// True if the boxes, all of one tensor, fill it exactly: nothing missing, nothing twice.
bool boxes_fill_tensor(std::span<const Box> boxes);

// Copies the box's elements (packed, row-major) to their places in the whole tensor.
void copy_into_whole(const Box& box, std::size_t element_bytes, std::span<const std::byte> packed,
                     std::span<std::byte> whole);

}  // namespace mastic::checkpoint
