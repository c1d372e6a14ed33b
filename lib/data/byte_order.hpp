// Bytes of other machines.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mastic::data {

inline std::uint32_t load_big_endian_32(const std::byte* bytes) {
    return std::to_integer<std::uint32_t>(bytes[0]) << 24 | std::to_integer<std::uint32_t>(bytes[1]) << 16 |
           std::to_integer<std::uint32_t>(bytes[2]) << 8 | std::to_integer<std::uint32_t>(bytes[3]);
}

// A copy with the bytes of each element reversed.
inline std::vector<std::byte> swap_elements(std::span<const std::byte> bytes, std::size_t element_size) {
    std::vector<std::byte> swapped(bytes.begin(), bytes.end());
    for (std::size_t i = 0; i + element_size <= swapped.size(); i += element_size) {
        std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(i),
                     swapped.begin() + static_cast<std::ptrdiff_t>(i + element_size));
    }
    return swapped;
}

}  // namespace mastic::data
