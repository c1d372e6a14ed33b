#include <mastic/checkpoint/shape.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include <mastic/core/error.hpp>

namespace mastic::checkpoint {

std::int64_t element_count(const Extents& shape) {
    std::int64_t count = 1;
    bool empty = false;
    for (const std::int64_t extent : shape) {
        if (extent < 0) {
            throw Error(ExitCode::checkpoint, "negative extent in shape " + to_string(shape));
        }
        empty = empty || extent == 0;
        if (extent > 0 && __builtin_mul_overflow(count, extent, &count)) {
            throw Error(ExitCode::checkpoint,
                        "shape " + to_string(shape) + " has more than 2^63 - 1 elements");
        }
    }
    return empty ? 0 : count;
}

std::string to_string(const Extents& extents) {
    std::string text = "(";
    for (std::size_t d = 0; d < extents.size(); ++d) {
        text += (d > 0 ? ", " : "") + std::to_string(extents[d]);
    }
    return text + ")";
}

std::string box_problem(const Box& box) {
    const std::size_t dimensions = box.global_shape.size();
    if (box.shape.size() != dimensions || box.offset.size() != dimensions) {
        return "shape " + to_string(box.shape) + ", offset " + to_string(box.offset) + " and global shape " +
               to_string(box.global_shape) + " differ in their number of dimensions";
    }
    for (std::size_t d = 0; d < dimensions; ++d) {
        // Compared without adding, which could overflow.
        const bool inside = box.shape[d] >= 0 && box.offset[d] >= 0 && box.shape[d] <= box.global_shape[d] &&
                            box.offset[d] <= box.global_shape[d] - box.shape[d];
        if (!inside) {
            return "offset " + to_string(box.offset) + " + shape " + to_string(box.shape) + " leaves " +
                   to_string(box.global_shape);
        }
    }
    return "";
}

namespace {

bool overlap(const Box& a, const Box& b) {
    for (std::size_t d = 0; d < a.shape.size(); ++d) {
        if (a.offset[d] >= b.offset[d] + b.shape[d] || b.offset[d] >= a.offset[d] + a.shape[d]) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool boxes_fill_tensor(std::span<const Box> boxes) {
    if (boxes.empty()) {
        return false;
    }
    // Empty boxes (a rank that holds no row) neither fill nor overlap; but of an empty tensor one box must
    // exist.
    std::vector<Box> filled;
    std::int64_t covered = 0;
    for (const Box& box : boxes) {
        const std::int64_t count = element_count(box.shape);
        covered += count;
        if (count > 0 || box.shape == box.global_shape) {
            filled.push_back(box);
        }
    }
    if (covered != element_count(boxes.front().global_shape)) {
        return false;
    }
    if (covered == 0) {
        return true;
    }
    // Sorted by offset, two boxes can only overlap while the first dimension does: a short look ahead.
    std::sort(filled.begin(), filled.end(), [](const Box& a, const Box& b) { return a.offset < b.offset; });
    for (std::size_t i = 0; i < filled.size(); ++i) {
        for (std::size_t j = i + 1; j < filled.size(); ++j) {
            if (!filled[i].shape.empty() && filled[j].offset[0] >= filled[i].offset[0] + filled[i].shape[0]) {
                break;
            }
            if (overlap(filled[i], filled[j])) {
                return false;
            }
        }
    }
    return true;
}

void copy_into_whole(const Box& box, std::size_t element_bytes, std::span<const std::byte> packed,
                     std::span<std::byte> whole) {
    if (packed.empty()) {
        return;
    }
    // Trailing dimensions that are stored in full, and the one before them, are one run of bytes.
    std::size_t outer = box.shape.size();
    std::size_t run = element_bytes;
    while (outer > 0) {
        --outer;
        run *= static_cast<std::size_t>(box.shape[outer]);
        if (box.shape[outer] != box.global_shape[outer]) {
            break;
        }
    }
    std::vector<std::size_t> stride(box.shape.size(), element_bytes);  // bytes per step in each dimension
    for (std::size_t d = box.shape.size(); d-- > 1;) {
        stride[d - 1] = stride[d] * static_cast<std::size_t>(box.global_shape[d]);
    }
    Extents index(outer, 0);
    for (std::size_t done = 0; done < packed.size(); done += run) {
        std::size_t target = 0;
        for (std::size_t d = 0; d < box.shape.size(); ++d) {
            target += stride[d] * static_cast<std::size_t>(box.offset[d] + (d < outer ? index[d] : 0));
        }
        std::memcpy(whole.data() + target, packed.data() + done, run);
        for (std::size_t d = outer; d-- > 0 && ++index[d] == box.shape[d];) {
            index[d] = 0;
        }
    }
}

}  // namespace mastic::checkpoint
