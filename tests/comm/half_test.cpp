#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <mastic/comm/half.hpp>

namespace mastic::comm {
namespace {

// From the definition: sign, exponent, mantissa.
double float16_value(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int mantissa = bits & 1023;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) {
        return mantissa == 0 ? sign * INFINITY : NAN;
    }
    return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

TEST(Float16, WidensAndNarrowsAllPatternsExactly) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const Float16 half{static_cast<std::uint16_t>(bits)};
        const double expected = float16_value(half.bits);
        Float16 back;
        narrow(widen(half), back);
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(widen(half)) && std::isnan(widen(back))) << bits;
        } else {
            ASSERT_EQ(widen(half), expected) << bits;
            ASSERT_EQ(back.bits, half.bits);
        }
    }
}

TEST(BFloat16, WidensAndNarrowsAllPatternsExactly) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const BFloat16 half{static_cast<std::uint16_t>(bits)};
        BFloat16 back;
        narrow(widen(half), back);
        if (std::isnan(widen(half))) {
            ASSERT_TRUE(std::isnan(widen(back))) << bits;
        } else {
            ASSERT_EQ(back.bits, half.bits);
        }
    }
}

// Between any two neighbours: below the middle goes down, above it up, the middle to the even one.
template <class Half>
void expect_nearest_even(std::uint16_t last_finite) {
    for (std::uint16_t bits = 0; bits < last_finite; ++bits) {
        const float low = widen(Half{bits});
        const float high = widen(Half{static_cast<std::uint16_t>(bits + 1)});
        const float middle = static_cast<float>((static_cast<double>(low) + high) / 2);
        Half below, at, above, negative;
        narrow(std::nextafter(middle, 0.0f), below);
        narrow(middle, at);
        narrow(std::nextafter(middle, INFINITY), above);
        narrow(-middle, negative);
        ASSERT_EQ(below.bits, bits);
        ASSERT_EQ(at.bits, bits % 2 == 0 ? bits : bits + 1);
        ASSERT_EQ(above.bits, bits + 1);
        ASSERT_EQ(negative.bits, at.bits | 0x8000);
    }
}

TEST(Float16, RoundsToNearestEven) {
    expect_nearest_even<Float16>(0x7BFF);
}
TEST(BFloat16, RoundsToNearestEven) {
    // Subnormal middles are not floats with a bit to spare, so start at the normal numbers.
    for (const float value : {1.00390625f, 1.01171875f, 3.0e38f}) {
        BFloat16 half;
        narrow(value, half);
        EXPECT_LE(std::fabs(widen(half) - value), value / 256);
    }
    expect_nearest_even<BFloat16>(0x7F7F);
}

TEST(Float16, OverflowsToInfinityFromHalfAStepBeyondTheLargest) {
    Float16 half;
    narrow(65519.996f, half);
    EXPECT_EQ(half.bits, 0x7BFF);
    narrow(65520.0f, half);
    EXPECT_EQ(half.bits, 0x7C00);
    narrow(-std::numeric_limits<float>::max(), half);
    EXPECT_EQ(half.bits, 0xFC00);
    narrow(INFINITY, half);
    EXPECT_EQ(half.bits, 0x7C00);
}

}  // namespace
}  // namespace mastic::comm
