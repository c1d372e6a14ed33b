// One element of encode, decode and decode_add (see wire.hpp). constexpr: kernels of GPUs use them too.
#pragma once

#include <cstdint>

#include <mastic/comm/detail/arithmetic.hpp>
#include <mastic/comm/half.hpp>

namespace mastic::comm::detail {

struct EncodeStep {
    using Wide = float;
    using Narrow = std::uint16_t;
    static constexpr bool writes_wide = true;
    static constexpr bool writes_narrow = true;
    template <class Half>
    static constexpr void apply(float& value, std::uint16_t& out) {
        Half half;
        narrow(value, half);
        out = half.bits;
        value = widen(half);
    }
};

struct DecodeStep {
    using Wide = float;
    using Narrow = const std::uint16_t;
    static constexpr bool writes_wide = true;
    static constexpr bool writes_narrow = false;
    template <class Half>
    static constexpr void apply(float& out, const std::uint16_t& in) {
        out = widen(Half{in});
    }
};

struct DecodeAddStep {
    using Wide = float;
    using Narrow = const std::uint16_t;
    static constexpr bool writes_wide = true;
    static constexpr bool writes_narrow = false;
    template <class Half>
    static constexpr void apply(float& sum, const std::uint16_t& in) {
        sum = Sum::apply(sum, widen(Half{in}));
    }
};

}  // namespace mastic::comm::detail
