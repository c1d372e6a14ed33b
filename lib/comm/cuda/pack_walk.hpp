// How the threads of a kernel go over its elements: packs of several elements, which every access takes as words of 16 bytes,
// by all threads in a grid-stride loop; what fills no pack at either end, element by element. Arithmetic only: it is
// tested on the host, where the kernels' bodies run too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mastic::comm::cuda {

inline constexpr std::size_t word_bytes = 16;

struct [[gnu::may_alias]] alignas(word_bytes) Word {
    std::uint32_t parts[4];
};

// Elements [0, head) come one by one, then `packs` packs, then the rest one by one.
struct PackRange {
    std::size_t count = 0;  // elements
    std::size_t head = 0;
    std::size_t packs = 0;
    std::size_t tail = 0;  // where the rest begins
};

// A buffer of the kernel: where it begins, and the bytes of one element there.
struct Operand {
    std::uintptr_t address = 0;
    std::size_t element_bytes = 0;
};

// If no element is at a word's begin in all operands at once, everything comes one by one.
constexpr PackRange pack_range(std::size_t count, std::size_t per_pack, std::span<const Operand> operands) {
    for (std::size_t head = 0; head < std::min(per_pack, count); ++head) {
        const bool aligned = std::ranges::all_of(operands, [head](const Operand& operand) {
            return (operand.address + head * operand.element_bytes) % word_bytes == 0;
        });
        if (aligned) {
            const std::size_t packs = (count - head) / per_pack;
            return {count, head, packs, head + packs * per_pack};
        }
    }
    return {count, count, 0, count};
}

struct Grid {
    unsigned blocks = 1;
    unsigned threads = 256;  // of each block
};

// Enough threads to fill the GPU, and none without work. 2048 threads a multiprocessor with a word each in flight are 32 KiB,
// which is more than its share of bandwidth x latency (Little's law: 4.8 TB/s x 0.6 us / 132 = 22 KiB on an H200).
constexpr Grid grid_for(const PackRange& range, int multiprocessors) {
    constexpr std::size_t threads = 256;
    constexpr std::size_t blocks_per_multiprocessor = 8;
    const std::size_t items = std::max(range.packs, range.head + (range.count - range.tail));
    const std::size_t wanted = (items + threads - 1) / threads;
    const std::size_t most =
        static_cast<std::size_t>(std::max(multiprocessors, 1)) * blocks_per_multiprocessor;
    return {static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, most)), static_cast<unsigned>(threads)};
}

// What thread `thread` of `threads` does.
template <class Body>
constexpr void walk(const Body& body, const PackRange& range, std::size_t thread, std::size_t threads) {
    for (std::size_t pack = thread; pack < range.packs; pack += threads) {
        body.pack(pack);
    }
    for (std::size_t i = thread; i < range.head; i += threads) {
        body.element(i);
    }
    for (std::size_t i = range.tail + thread; i < range.count; i += threads) {
        body.element(i);
    }
}

}  // namespace mastic::comm::cuda
