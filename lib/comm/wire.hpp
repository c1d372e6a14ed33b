// A wire: float32 travels as 16-bit numbers and is added in float32, a stateless cast with the same count.
//
// Error: each rounding is relative, at most 2^-8 (bfloat16) or 2^-11 (float16, where the value is in its range: 6e-5 to
// 65504; beyond it is infinite). A partial sum is rounded each time it is sent, so after a ring over p ranks a sum is
// wrong by at most p * 2^-8 * (sum of the absolute values of the contributions), to first order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mastic::comm {

enum class Wire : std::uint8_t { exact, bfloat16, float16 };

struct WireName {
    Wire wire;
    const char* name;
    const char* description;
};
std::span<const WireName> wires();
Wire parse_wire(std::string_view name);  // throws Error(usage) with a suggestion
const char* to_string(Wire wire);

// Not for Wire::exact. Encoding also rounds `values` to what was encoded: sender and receiver then hold the same number.
void encode(Wire wire, float* values, std::uint16_t* out, std::size_t count);
void decode(Wire wire, const std::uint16_t* in, float* out, std::size_t count);
// sum[i] += in[i].
void decode_add(Wire wire, const std::uint16_t* in, float* sum, std::size_t count);

}  // namespace mastic::comm
