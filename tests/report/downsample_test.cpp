#include <mastic/report/downsample.hpp>

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>

namespace mastic::report {
namespace {

using Points = std::vector<PixelPoint>;

TEST(Downsample, ShortSeriesStayAsTheyAre) {
    const Points points{{0, 5}, {1, 7}, {2.5, 6}};
    EXPECT_EQ(downsampled(points), points);
}

TEST(Downsample, KeepsFirstLowestHighestLastOfAColumnInTheirOrder) {
    const Points points{{0.0, 5}, {0.1, 9}, {0.2, 6}, {0.3, 1}, {0.4, 2}, {0.5, 4}};
    EXPECT_EQ(downsampled(points), (Points{{0.0, 5}, {0.1, 9}, {0.3, 1}, {0.5, 4}}));
}

TEST(Downsample, ASpikeAmongAMillionPointsStays) {
    Points points;
    for (int i = 0; i < 1'000'000; ++i) {
        points.push_back({i * 0.0005, i == 777'777 ? 100.0 : 1.0});
    }
    const Points few = downsampled(points);
    EXPECT_LE(few.size(), 4u * 501u);
    EXPECT_EQ(std::count_if(few.begin(), few.end(), [](const PixelPoint& point) { return point.y == 100; }),
              1);
}

TEST(Downsample, GapsStayIfTheyFillAColumn) {
    const Points points{{0, 1}, {1, NAN}, {1.5, NAN}, {2, 3}, {2.1, NAN}, {2.2, 4}, {NAN, 9}};
    const Points few = downsampled(points);
    ASSERT_EQ(few.size(), 4u);
    EXPECT_TRUE(std::isnan(few[1].y));
    EXPECT_EQ(few[2].y, 3);
    EXPECT_EQ(few[3].y, 4);
}

}  // namespace
}  // namespace mastic::report
