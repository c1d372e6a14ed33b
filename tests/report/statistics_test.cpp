#include <mastic/report/statistics.hpp>

#include <gtest/gtest.h>
#include <cmath>

namespace mastic::report {
namespace {

TEST(Statistics, InterpolatesQuantiles) {
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0), 1);
    EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
    EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.95), 9.5);
    EXPECT_DOUBLE_EQ(median({7}), 7);
}

TEST(Statistics, LeavesOutWhatIsNotFinite) {
    EXPECT_DOUBLE_EQ(median({NAN, 1, INFINITY, 3}), 2);
    const std::vector<double> values{1, NAN, 5};
    EXPECT_DOUBLE_EQ(mean(values), 3);
    EXPECT_TRUE(std::isnan(median({})));
    EXPECT_TRUE(std::isnan(mean({})));
}

TEST(Statistics, SmoothingKeepsALineWhereItIs) {
    std::vector<double> line;
    for (int i = 0; i < 101; ++i) {
        line.push_back(i);
    }
    const auto smooth = smoothed(line, 5);
    EXPECT_NEAR(smooth[50], 50, 1e-3);  // a one-sided average would lag by about 7
    EXPECT_GT(smooth[0], 0);
    EXPECT_LT(smooth[100], 100);
}

TEST(Statistics, SmoothingKeepsGapsAndConstants) {
    const std::vector<double> values{2, 2, NAN, 2, 2};
    const auto smooth = smoothed(values, 2);
    ASSERT_EQ(smooth.size(), 5u);
    EXPECT_TRUE(std::isnan(smooth[2]));
    for (const std::size_t i : {0, 1, 3, 4}) {
        EXPECT_DOUBLE_EQ(smooth[i], 2);
    }
}

TEST(Statistics, SmoothingLowersNoise) {
    std::vector<double> noise;
    for (int i = 0; i < 100; ++i) {
        noise.push_back(i % 2 == 0 ? 1 : -1);
    }
    const auto smooth = smoothed(noise, 10);
    for (std::size_t i = 20; i < 80; ++i) {
        EXPECT_LT(std::abs(smooth[i]), 0.1);
    }
}

}  // namespace
}  // namespace mastic::report
