#include <mastic/report/axis.hpp>

#include <gtest/gtest.h>
#include <cmath>

namespace mastic::report {
namespace {

std::vector<std::string> labels(Range range, Scale scale, int target, bool whole = false) {
    std::vector<std::string> result;
    for (const Tick& tick : ticks(range, scale, target, whole)) {
        result.push_back(tick.label);
    }
    return result;
}
using Labels = std::vector<std::string>;

TEST(Axis, StepsAreOneTwoFive) {
    EXPECT_DOUBLE_EQ(nice_step(10, 10), 1);
    EXPECT_DOUBLE_EQ(nice_step(11, 10), 2);
    EXPECT_DOUBLE_EQ(nice_step(21, 10), 5);
    EXPECT_DOUBLE_EQ(nice_step(60, 10), 10);
    EXPECT_NEAR(nice_step(0.003, 4), 0.001, 1e-12);
}

TEST(Axis, LinearLabelsShareDecimalsAndMultiple) {
    EXPECT_EQ(labels({0, 1}, Scale::linear, 4), (Labels{"0", "0.5", "1.0"}));
    EXPECT_EQ(labels({0, 100000}, Scale::linear, 5), (Labels{"0", "20k", "40k", "60k", "80k", "100k"}));
    EXPECT_EQ(labels({0, 1e6}, Scale::linear, 2), (Labels{"0", "0.5M", "1.0M"}));
    EXPECT_EQ(labels({0, 2000}, Scale::linear, 2), (Labels{"0", "1000", "2000"}));
    EXPECT_EQ(labels({-1, 1}, Scale::linear, 4), (Labels{"-1.0", "-0.5", "0", "0.5", "1.0"}));
    EXPECT_EQ(labels({10000, 10000.4}, Scale::linear, 4),
              (Labels{"10000.0", "10000.1", "10000.2", "10000.3", "10000.4"}));
    EXPECT_EQ(labels({0, 2e-6}, Scale::linear, 2), (Labels{"0", "1e-6", "2e-6"}));
}

TEST(Axis, CountsHaveNoFractions) {
    EXPECT_EQ(labels({0, 2}, Scale::linear, 8, true), (Labels{"0", "1", "2"}));
    EXPECT_EQ(labels({0.5, 1.5}, Scale::linear, 8, true), (Labels{"1"}));
}

TEST(Axis, LogarithmicTicksAreDecadesThenTwoAndFive) {
    EXPECT_EQ(labels({1, 1e6}, Scale::logarithmic, 6), (Labels{"1", "10", "100", "1k", "10k", "100k", "1M"}));
    EXPECT_EQ(labels({1, 1e6}, Scale::logarithmic, 3), (Labels{"1", "100", "10k", "1M"}));
    EXPECT_EQ(labels({1, 20}, Scale::logarithmic, 6), (Labels{"1", "2", "5", "10", "20"}));
    EXPECT_EQ(labels({1e-4, 1e-2}, Scale::logarithmic, 2), (Labels{"0.0001", "0.001", "0.01"}));
    EXPECT_EQ(labels({1, 2}, Scale::logarithmic, 5), (Labels{"1.0", "1.2", "1.4", "1.6", "1.8", "2.0"}));
}

TEST(Axis, NeverWithoutTicksAndNeverCrowded) {
    for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
        for (double low = 1e-9; low < 1e9; low *= 7.3) {
            for (double factor = 1.0001; factor < 1e12; factor *= 11) {
                for (const int target : {1, 4, 9}) {
                    const Range range{low, low * factor};
                    const auto result = ticks(range, scale, target);
                    ASSERT_GE(result.size(), 1u) << range.low << " " << range.high;
                    ASSERT_LE(result.size(), static_cast<std::size_t>(3 * target + 2));
                    for (const Tick& tick : result) {
                        ASSERT_GE(tick.value, range.low - 1e-6 * (range.high - range.low));
                        ASSERT_LE(tick.value, range.high + 1e-6 * (range.high - range.low));
                    }
                }
            }
        }
    }
}

TEST(Axis, RangeIgnoresWhatCannotBeShown) {
    const std::vector<double> values{NAN, 3, -1, INFINITY, 0};
    EXPECT_EQ(range_of({values}, Scale::linear), (Range{-1, 3}));
    EXPECT_EQ(range_of({values}, Scale::logarithmic), (Range{1.5, 6}));
    EXPECT_EQ(range_of({}, Scale::linear), (Range{0, 1}));
    EXPECT_EQ(range_of({}, Scale::logarithmic), (Range{1, 10}));
}

TEST(Axis, RangeOfOneValueHasRoom) {
    for (const double value : {0.0, 5.0, -5.0, 1e-12, 1e12}) {
        const std::vector<double> values{value, value};
        const Range range = range_of({values}, Scale::linear);
        EXPECT_LT(range.low, value);
        EXPECT_GT(range.high, value);
    }
}

TEST(Axis, PaddingDoesNotInventNegativeValues) {
    EXPECT_EQ(padded({0, 10}, Scale::linear, 0.1), (Range{0, 11}));
    EXPECT_EQ(padded({-10, 10}, Scale::linear, 0.1), (Range{-12, 12}));
    const Range range = padded({1, 100}, Scale::logarithmic, 0.5);
    EXPECT_NEAR(range.low, 0.1, 1e-12);
    EXPECT_NEAR(range.high, 1000, 1e-9);
}

TEST(Axis, MapsBothWays) {
    const AxisMap linear(Scale::linear, {0, 10}, 100, 0);
    EXPECT_DOUBLE_EQ(linear(0), 100);
    EXPECT_DOUBLE_EQ(linear(10), 0);
    EXPECT_DOUBLE_EQ(linear.value_at(25), 7.5);
    const AxisMap logarithmic(Scale::logarithmic, {1, 100}, 0, 200);
    EXPECT_DOUBLE_EQ(logarithmic(10), 100);
    EXPECT_NEAR(logarithmic.value_at(100), 10, 1e-9);
    EXPECT_TRUE(std::isnan(logarithmic(0)));
    EXPECT_TRUE(std::isnan(linear(INFINITY)));
}

}  // namespace
}  // namespace mastic::report
