#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <mastic/comm/half.hpp>
#include <mastic/comm/wire.hpp>
#include "comm/instruction_sets.hpp"
#include "support/expect_error.hpp"

namespace mastic::comm {
namespace {

// Random bits: all magnitudes, subnormals and NaN too. Then gradients of usual size.
std::vector<float> values() {
    std::mt19937 random(3);
    std::vector<float> values = {0.0f,  -0.0f,     INFINITY, -INFINITY, NAN,   -NAN,
                                 65504, 65519.99f, 65520,    6e-5f,     1e-45f};
    for (int i = 0; i < 20000; ++i) {
        values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
        values.push_back(
            std::ldexp(static_cast<float>(random() % 2001) - 1000.0f, static_cast<int>(random() % 20) - 25));
    }
    return values;
}

std::uint16_t narrowed(Wire wire, float value) {
    if (wire == Wire::bfloat16) {
        BFloat16 half;
        narrow(value, half);
        return half.bits;
    }
    Float16 half;
    narrow(value, half);
    return half.bits;
}

float widened(Wire wire, std::uint16_t bits) {
    return wire == Wire::bfloat16 ? widen(BFloat16{bits}) : widen(Float16{bits});
}

std::uint32_t bits_of(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

using Parameters = std::tuple<Wire, detail::InstructionSet>;
class VectorisedWire : public testing::TestWithParam<Parameters> {
  protected:
    void SetUp() override {
        if (!set_.available()) {
            GTEST_SKIP() << "this CPU does not have it";
        }
    }
    Wire wire() const { return std::get<Wire>(GetParam()); }

  private:
    test::OnInstructionSet set_{std::get<detail::InstructionSet>(GetParam())};
};

std::string name_of_parameters(const testing::TestParamInfo<Parameters>& info) {
    const auto [wire, set] = info.param;
    return std::string(to_string(wire)) + test::to_string(set);
}
INSTANTIATE_TEST_SUITE_P(, VectorisedWire,
                         testing::Combine(testing::Values(Wire::bfloat16, Wire::float16),
                                          testing::ValuesIn(test::instruction_sets)),
                         name_of_parameters);

TEST_P(VectorisedWire, EncodeAsHalfDoesAndRoundTheValues) {
    const std::vector<float> original = values();
    for (const std::size_t start : {0, 1, 3}) {
        std::vector<float> rounded = original;
        std::vector<std::uint16_t> out(original.size(), 0xABCD);
        const std::size_t count = original.size() - start - 5;
        encode(wire(), rounded.data() + start, out.data() + start, count);
        for (std::size_t i = 0; i < original.size(); ++i) {
            const bool encoded = i >= start && i < start + count;
            const std::uint16_t expected = encoded ? narrowed(wire(), original[i]) : 0xABCD;
            ASSERT_EQ(out[i], expected) << i;
            ASSERT_EQ(bits_of(rounded[i]), bits_of(encoded ? widened(wire(), expected) : original[i])) << i;
        }
    }
}

// So that a block that is passed on does not change again.
TEST_P(VectorisedWire, EncodingTwiceIsEncodingOnce) {
    std::vector<float> rounded = values();
    std::vector<std::uint16_t> first(rounded.size()), second(rounded.size());
    encode(wire(), rounded.data(), first.data(), rounded.size());
    encode(wire(), rounded.data(), second.data(), rounded.size());
    EXPECT_EQ(first, second);
}

TEST_P(VectorisedWire, DecodeAllPatterns) {
    std::vector<std::uint16_t> in(65536 + 3);
    for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = static_cast<std::uint16_t>(i);
    }
    std::vector<float> out(in.size()), sum(in.size(), 0.375f);
    decode(wire(), in.data(), out.data(), in.size());
    decode_add(wire(), in.data(), sum.data(), in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        const float value = widened(wire(), in[i]);
        ASSERT_EQ(bits_of(out[i]), bits_of(value)) << i;
        ASSERT_EQ(bits_of(sum[i]), bits_of(std::isnan(value) ? std::nanf("") : 0.375f + value)) << i;
    }
}

TEST_P(VectorisedWire, RoundWithinTheirBounds) {
    const float largest = wire() == Wire::bfloat16 ? 3.38e38f : 65504;
    const float smallest = wire() == Wire::bfloat16 ? 1.2e-38f : 6.2e-5f;
    const float bound = wire() == Wire::bfloat16 ? 0x1p-8f : 0x1p-11f;
    const std::vector<float> original = values();
    std::vector<float> rounded = original;
    std::vector<std::uint16_t> out(original.size());
    encode(wire(), rounded.data(), out.data(), rounded.size());
    float worst = 0;
    for (std::size_t i = 0; i < original.size(); ++i) {
        if (const float magnitude = std::fabs(original[i]); magnitude >= smallest && magnitude <= largest) {
            worst = std::max(worst, std::fabs(rounded[i] - original[i]) / magnitude);
        }
    }
    EXPECT_LE(worst, bound);
    EXPECT_GT(worst, bound * 0.9f);  // the bound is the bound, not a multiple of it
}

TEST(Wires, HaveNames) {
    for (const WireName& entry : wires()) {
        EXPECT_EQ(parse_wire(entry.name), entry.wire);
        EXPECT_STREQ(to_string(entry.wire), entry.name);
    }
    test::expect_error(ExitCode::usage, "did you mean 'bfloat16'?", [] { parse_wire("bfloat61"); });
}

TEST(Wires, AnExactOneHasNoEncoding) {
    test::expect_error(ExitCode::usage, "exact", [] { decode(Wire::exact, nullptr, nullptr, 0); });
}

}  // namespace
}  // namespace mastic::comm
