// float16 (IEEE binary16) and bfloat16 as 16-bit patterns: widening is exact, narrowing rounds to nearest
// even. Without branches, so that loops over them vectorise on any machine: choices are masks, because compilers make
// branches of conditional expressions where one side costs something. constexpr: kernels of GPUs use it too.
#pragma once

#include <bit>
#include <cstdint>

namespace mastic::comm {

struct Float16 {
    std::uint16_t bits = 0;
};
struct BFloat16 {
    std::uint16_t bits = 0;
};

constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
    return no ^ ((yes ^ no) & (0u - std::uint32_t(condition)));
}

constexpr float widen(BFloat16 value) {
    return std::bit_cast<float>(std::uint32_t(value.bits) << 16);
}

constexpr float widen(Float16 value) {
    const std::uint32_t magnitude = value.bits & 0x7FFFu;
    // Below the smallest normal number: 0.5 + m * 2^-24 less 0.5. No operand is subnormal in float32: that is slow.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude + 0x3F000000u) - 0.5f);
    const std::uint32_t normal = (magnitude << 13) + (112u << 23);  // the exponent bias differs by 112
    const std::uint32_t finite = select(magnitude < 0x400u, subnormal, normal);
    const std::uint32_t special = select(magnitude >= 0x7C00u, 0x7F800000u, 0u);  // infinities and NaN
    return std::bit_cast<float>(finite | special | std::uint32_t(value.bits & 0x8000u) << 16);
}

constexpr void narrow(float value, BFloat16& out) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
    const std::uint32_t quiet_nan = (bits >> 16) | 0x40u;
    out.bits = static_cast<std::uint16_t>(select((bits & 0x7FFFFFFFu) > 0x7F800000u, quiet_nan, rounded));
}

constexpr void narrow(float value, Float16& out) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    // Below the smallest normal number the float addition itself rounds: the sum's last bit is binary16's last bit.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
    const std::uint32_t normal = (magnitude - (112u << 23) + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
    const std::uint32_t special = select(magnitude > 0x7F800000u, 0x7E00u, 0x7C00u);
    const std::uint32_t finite = select(magnitude < 0x38800000u, subnormal, normal);
    const std::uint32_t result = select(magnitude >= 0x47800000u, special, finite);
    out.bits = static_cast<std::uint16_t>(result | ((bits >> 16) & 0x8000u));
}

}  // namespace mastic::comm
