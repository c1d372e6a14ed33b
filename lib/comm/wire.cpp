#include <mastic/comm/wire.hpp>

#include <mastic/comm/detail/vectorised.hpp>
#include <mastic/comm/detail/visit_half.hpp>
#include <mastic/comm/detail/wire_steps.hpp>
#include <mastic/core/error.hpp>
#include <mastic/core/named.hpp>

namespace mastic::comm {

namespace {

using detail::Vectorised;

constexpr WireName names[] = {
    {Wire::exact, "exact", "values travel as they are"},
    {Wire::bfloat16, "bfloat16",
     "float32 travels as bfloat16: half the bytes, the range of float32, 8 bits of precision"},
    {Wire::float16, "float16",
     "float32 travels as float16: half the bytes, 11 bits of precision, at most 65504"},
};

template <class Half>
[[gnu::always_inline]] inline void encode_as(float* values, std::uint16_t* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        detail::EncodeStep::apply<Half>(values[i], out[i]);
    }
}

template <class Half>
[[gnu::always_inline]] inline void decode_from(const std::uint16_t* in, float* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        detail::DecodeStep::apply<Half>(out[i], in[i]);
    }
}

template <class Half>
[[gnu::always_inline]] inline void decode_add_from(const std::uint16_t* in, float* sum, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        detail::DecodeAddStep::apply<Half>(sum[i], in[i]);
    }
}

}  // namespace

std::span<const WireName> wires() {
    return names;
}

Wire parse_wire(std::string_view name) {
    return require_named(wires(), name, "wire").wire;
}

const char* to_string(Wire wire) {
    return names[static_cast<std::size_t>(wire)].name;
}

void encode(Wire wire, float* values, std::uint16_t* out, std::size_t count) {
    detail::visit_half(
        wire, [&](auto half) { Vectorised<encode_as<decltype(half)>>::choose()(values, out, count); });
}

void decode(Wire wire, const std::uint16_t* in, float* out, std::size_t count) {
    detail::visit_half(wire,
                       [&](auto half) { Vectorised<decode_from<decltype(half)>>::choose()(in, out, count); });
}

void decode_add(Wire wire, const std::uint16_t* in, float* sum, std::size_t count) {
    detail::visit_half(
        wire, [&](auto half) { Vectorised<decode_add_from<decltype(half)>>::choose()(in, sum, count); });
}

}  // namespace mastic::comm
