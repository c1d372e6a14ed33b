// Sum, minimum and maximum of two elements. Without branches, so that loops over them vectorise; and the same bits
// when the operands are swapped. For floating-point numbers that takes care: of two NaN, x86 adds to the first operand,
// so a NaN on either side gives the one quiet NaN instead; and -0 is less than +0. constexpr: kernels of GPUs use it too.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <mastic/comm/half.hpp>

namespace mastic::comm::detail {

template <class Element>
inline constexpr bool is_half = std::is_same_v<Element, Float16> || std::is_same_v<Element, BFloat16>;

template <class Real>
using BitsOf = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

template <class Real>
constexpr Real one_nan(Real value) {
    return value == value ? value : std::numeric_limits<Real>::quiet_NaN();
}

// `chosen` is a or b, by comparison; `if_equal` decides between the zeros, which compare equal.
template <class Real>
constexpr Real choose(Real a, Real b, Real chosen, BitsOf<Real> if_equal) {
    const Real result = a == b ? std::bit_cast<Real>(if_equal) : chosen;
    return a == a ? one_nan(result) : std::numeric_limits<Real>::quiet_NaN();
}

struct Sum {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        if constexpr (std::is_integral_v<Value>) {
            using Wrapping = std::make_unsigned_t<Value>;  // overflow of integers is defined: modulo 2^n
            return static_cast<Value>(
                static_cast<Wrapping>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b)));
        } else {
            return one_nan(a + b);
        }
    }
};

struct Min {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        if constexpr (std::is_integral_v<Value>) {
            return a < b ? a : b;
        } else {
            using Bits = BitsOf<Value>;
            return choose(a, b, a < b ? a : b, std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b));
        }
    }
};

struct Max {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        if constexpr (std::is_integral_v<Value>) {
            return a > b ? a : b;
        } else {
            using Bits = BitsOf<Value>;
            return choose(a, b, a > b ? a : b, std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b));
        }
    }
};

// float16 and bfloat16 are computed with in float32 and rounded.
template <class Operation, class Element>
constexpr Element apply(Element a, Element b) {
    if constexpr (is_half<Element>) {
        Element result;
        narrow(Operation::apply(widen(a), widen(b)), result);
        return result;
    } else {
        return Operation::apply(a, b);
    }
}

// A sum over `ranks` ranks as their average; integers without the remainder.
template <class Element>
constexpr Element averaged(Element sum, int ranks) {
    if constexpr (std::is_integral_v<Element>) {
        return static_cast<Element>(sum / ranks);
    } else if constexpr (is_half<Element>) {
        Element average;
        narrow(widen(sum) * (1 / static_cast<float>(ranks)), average);
        return average;
    } else {
        return sum * (1 / static_cast<Element>(ranks));
    }
}

}  // namespace mastic::comm::detail
