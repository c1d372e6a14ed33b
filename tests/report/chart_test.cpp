#include <mastic/report/bar_chart.hpp>
#include <mastic/report/gantt_chart.hpp>

#include <gmock/gmock.h>
#include <cmath>

#include "report/markup.hpp"

namespace mastic::report {
namespace {

using testing::HasSubstr;

TEST(BarChart, SegmentsFollowEachOtherInProportion) {
    const BarChart chart{"Time", "ms", {"forward", "backward"}, {{"rank 0", {1, 3}}, {"rank 1", {2, NAN}}}};
    const auto bars = test::select(test::parse_markup(to_svg(chart).markup), "rect", "area");
    ASSERT_EQ(bars.size(), 3u);
    const auto& first = bars[0];
    const auto& second = bars[1];
    EXPECT_NEAR(second.number("width") / first.number("width"), 3, 0.05);
    EXPECT_NEAR(first.number("x") + first.number("width"), second.number("x"), 0.11);
    EXPECT_NEAR(bars[2].number("width") / first.number("width"), 2, 0.05);
    EXPECT_THAT(to_svg(chart).markup, HasSubstr("rank 0, backward: 3 ms"));
}

TEST(BarChart, WorksWithoutBarsAndWithZeros) {
    test::parse_markup(to_svg(BarChart{"none", "ms", {"a"}, {}}).markup);
    const auto elements = test::parse_markup(to_svg(BarChart{"zero", "ms", {"a"}, {{"<b>", {0}}}}).markup);
    EXPECT_TRUE(test::select(elements, "rect", "area").empty());
    EXPECT_TRUE(test::select(elements, "b").empty());
}

TEST(GanttChart, PlacesIntervalsInTimeInASuitableUnit) {
    const GanttChart chart{
        "Nodes", {"job", "training"}, {{"node01", {{0, 3600, 0, "<4711>"}, {7200, 18000, 1, ""}}}}};
    const std::string markup = to_svg(chart).markup;
    const auto bars = test::select(test::parse_markup(markup), "rect", "area");
    ASSERT_EQ(bars.size(), 2u);
    EXPECT_NEAR(bars[1].number("width") / bars[0].number("width"), 3, 0.02);
    EXPECT_THAT(markup, HasSubstr("time (h)"));
    EXPECT_THAT(markup, HasSubstr("&lt;4711&gt; (job)"));
    EXPECT_THAT(to_svg(GanttChart{"short", {"a"}, {{"r", {{0, 0.02, 0, ""}}}}}).markup,
                HasSubstr("time (ms)"));
}

TEST(GanttChart, JoinsWhatAPixelCannotShow) {
    GanttRow row{"node", {}};
    for (int i = 0; i < 100'000; ++i) {
        row.intervals.push_back({static_cast<double>(i), i + 0.5, 0, ""});
    }
    EXPECT_LT(to_svg(GanttChart{"many", {"a"}, {row}}).markup.size(), 400'000u);
}

TEST(GanttChart, AThousandRowsStillFitAScreen) {
    GanttChart chart{"cluster", {"a"}, {}};
    for (int i = 0; i < 1000; ++i) {
        chart.rows.push_back({"node" + std::to_string(i), {{0, 1, 0, ""}}});
    }
    const auto elements = test::parse_markup(to_svg(chart).markup);
    EXPECT_LT(elements[0].number("height"), 3200);
    EXPECT_EQ(test::select(elements, "rect", "area").size(), 1000u);
}

}  // namespace
}  // namespace mastic::report
