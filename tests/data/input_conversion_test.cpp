#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <mastic/data/element.hpp>
#include <mastic/data/input_conversion.hpp>

#include "sample_files.hpp"
#include "support/expect_error.hpp"

namespace mastic::data {
namespace {

using mastic::test::expect_error;

template <class T>
std::vector<float> converted(DataType type, const Shape& shape, const Normalization& normalization,
                             std::vector<T> stored) {
    const InputConversion conversion(type, shape, normalization);
    std::vector<float> out(conversion.count());
    conversion.convert(reinterpret_cast<const std::byte*>(stored.data()), out.data());
    return out;
}

TEST(InputConversion, EightBitImagesBecomeZeroToOne) {
    using Bytes = std::vector<std::uint8_t>;
    EXPECT_EQ(converted(DataType::uint8, {1, 1, 3}, {}, Bytes{0, 51, 255}),
              (std::vector<float>{0, 51 * (1.0f / 255), 1}));
    EXPECT_EQ(converted(DataType::uint8, {1, 1, 3}, {false, {}, {}}, Bytes{0, 51, 255}),
              (std::vector<float>{0, 51, 255}));
    EXPECT_EQ(converted(DataType::boolean, {2}, {}, Bytes{0, 1}), (std::vector<float>{0, 1}));
}

TEST(InputConversion, NormalizesByChannelAfterScaling) {
    const auto out = converted(DataType::uint8, {2, 1, 2}, {true, {0.5, 0.2}, {0.5, 0.1}},
                               std::vector<std::uint8_t>{0, 255, 51, 255});
    const std::vector<float> expected = {-1, 1, 0, 8};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(out[i], expected[i], 1e-6);
    }
}

TEST(InputConversion, OneValueServesAllAndFeaturesAreChannels) {
    EXPECT_EQ(converted(DataType::float32, {3}, {true, {1}, {2}}, std::vector<float>{1, 3, 5}),
              (std::vector<float>{0, 1, 2}));
    EXPECT_EQ(converted(DataType::float64, {3}, {true, {1, 2, 3}, {1, 2, 4}}, std::vector<double>{1, 4, 11}),
              (std::vector<float>{0, 1, 2}));
    EXPECT_EQ(converted(DataType::int16, {2, 2}, {true, {}, {}}, std::vector<std::int16_t>{1, -2, 3, 300}),
              (std::vector<float>{1, -2, 3, 300}));
}

TEST(InputConversion, HalfPrecisionIsExact) {
    const auto value = [](std::uint16_t bits) { return static_cast<float>(Float16{bits}); };
    EXPECT_EQ(value(0x3C00), 1.0f);
    EXPECT_EQ(value(0xC100), -2.5f);
    EXPECT_EQ(value(0x7BFF), 65504.0f);
    EXPECT_EQ(value(0x0400), 0x1.0p-14f);
    EXPECT_EQ(value(0x0001), 0x1.0p-24f);
    EXPECT_EQ(value(0x83FF), -1023 * 0x1.0p-24f);
    EXPECT_TRUE(std::signbit(value(0x8000)));
    EXPECT_EQ(value(0xFC00), -std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(value(0x7E00)));
}

TEST(InputConversion, WhatDoesNotFitIsRefused) {
    const auto build = [](std::vector<double> mean, std::vector<double> stddev) {
        return [=] { InputConversion(DataType::uint8, {3, 4, 4}, {true, mean, stddev}); };
    };
    expect_error(ExitCode::usage, "data.mean has 2 values, the inputs have 3 channels", build({1, 2}, {}));
    expect_error(ExitCode::usage, "data.stddev has 4 values", build({}, {1, 1, 1, 1}));
    expect_error(ExitCode::usage, "must be positive", build({}, {1, 0, 1}));
    expect_error(ExitCode::usage, "must be positive", build({}, {std::nan("")}));
    expect_error(ExitCode::usage, "finite", build({INFINITY}, {}));
}

}  // namespace
}  // namespace mastic::data
