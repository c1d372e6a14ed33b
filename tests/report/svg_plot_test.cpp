#include <mastic/report/svg_plot.hpp>

#include <gmock/gmock.h>
#include <algorithm>
#include <cmath>

#include <mastic/report/plot_style.hpp>

#include "report/markup.hpp"

namespace mastic::report {
namespace {

using test::Element;
using testing::HasSubstr;

constexpr const char* hostile = "<script>alert('x')</script>&amp;\"/><title>\x01\xff";

LinePlot plot_of(std::vector<double> x, std::vector<double> y, Mark mark = Mark::line) {
    LinePlot plot;
    plot.title = "Loss";
    plot.x.label = "step";
    plot.series = {{"training", std::move(x), std::move(y), mark}};
    return plot;
}

std::vector<Element> elements_of(const LinePlot& plot) {
    return test::parse_markup(to_svg(plot).markup);
}

std::vector<std::string> texts(const std::vector<Element>& elements) {
    std::vector<std::string> result;
    for (const Element& element : test::select(elements, "text")) {
        result.push_back(element.text);
    }
    return result;
}

TEST(SvgPlot, DrawsALineThroughItsPoints) {
    LinePlot plot = plot_of({0, 5, 10}, {0, 10, 0});
    plot.y.low = 0;
    plot.y.high = 10;
    const auto curves = test::select(elements_of(plot), "path", "curve");
    ASSERT_EQ(curves.size(), 1u);
    const auto points = test::path_points(curves[0].attribute("d"));
    ASSERT_EQ(points.size(), 3u);
    EXPECT_DOUBLE_EQ(points[0].second, points[2].second);
    EXPECT_LT(points[1].second, points[0].second);
    EXPECT_NEAR(points[1].first - points[0].first, points[2].first - points[1].first, 0.11);
}

TEST(SvgPlot, EverythingStaysInsideThePicture) {
    for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
        LinePlot plot = plot_of({1, 1e3, 1e6}, {1e-8, 5, 1e9});
        plot.x.scale = scale;
        plot.y.scale = scale;
        plot.limits = {{1e8, "a limit with a long name"}};
        plot.events = {{1e6, "resume", "", true}, {5e5, "checkpoint", "", false}};
        const Svg svg = to_svg(plot);
        const auto elements = test::parse_markup(svg.markup);
        const double height = elements[0].number("height");
        EXPECT_EQ(elements[0].attribute("viewBox"), "0 0 560 " + elements[0].attribute("height"));
        for (const Element& element : elements) {
            EXPECT_GE(element.number("x"), 0) << element.name;
            EXPECT_LE(element.number("x") + element.number("width"), 560.5) << element.name;
            EXPECT_LE(element.number("y") + element.number("height"), height + 0.5) << element.name;
        }
        for (const Element& text : test::select(elements, "text")) {
            const double width = text_width(text.text, 11);
            const std::string anchor = text.attribute("text-anchor");
            const double left = text.number("x") - (anchor == "end"      ? width
                                                    : anchor == "middle" ? width / 2
                                                                         : 0);
            EXPECT_GE(left, -1) << text.text;
            EXPECT_LE(left + width, 561) << text.text;
        }
    }
}

TEST(SvgPlot, TickLabelsDoNotTouchEachOther) {
    for (const double high : {1.0, 7.0, 1234.0, 100000.0, 98765432.0, 1e12}) {
        LinePlot plot = plot_of({0, high}, {0, high});
        plot.x.whole = true;
        std::vector<std::pair<double, double>> spans;
        const auto elements = elements_of(plot);
        double row = 0;
        for (const Element& text : test::select(elements, "text")) {
            if (text.attribute("text-anchor") == "middle" && text.text != "step") {
                row = row == 0 ? text.number("y") : row;
                EXPECT_DOUBLE_EQ(text.number("y"), row);
                const double half = text_width(text.text, 11) / 2;
                spans.emplace_back(text.number("x") - half, text.number("x") + half);
            }
        }
        ASSERT_GE(spans.size(), 2u) << high;
        for (std::size_t i = 1; i < spans.size(); ++i) {
            EXPECT_GT(spans[i].first, spans[i - 1].second + 4) << high;
        }
    }
}

TEST(SvgPlot, AGapBreaksTheLine) {
    const auto curves =
        test::select(elements_of(plot_of({0, 1, 2, 3, 4}, {1, 2, NAN, 3, 4})), "path", "curve");
    ASSERT_EQ(curves.size(), 1u);
    const std::string data = curves[0].attribute("d");
    EXPECT_EQ(std::count(data.begin(), data.end(), 'M'), 2);
    EXPECT_EQ(std::count(data.begin(), data.end(), 'L'), 2);
    EXPECT_EQ(data.find("nan"), std::string::npos);
}

TEST(SvgPlot, StepsHoldTheirValue) {
    const auto curves = test::select(elements_of(plot_of({0, 10}, {1, 5}, Mark::step)), "path", "curve");
    const auto points = test::path_points(curves.at(0).attribute("d"));
    ASSERT_EQ(points.size(), 3u);
    EXPECT_DOUBLE_EQ(points[0].second, points[1].second);
    EXPECT_DOUBLE_EQ(points[1].first, points[2].first);
}

TEST(SvgPlot, PointsCarryTheirValuesAsTooltips) {
    const auto elements = elements_of(plot_of({3, 1, 2}, {0.5, NAN, 0.25}, Mark::points));
    EXPECT_EQ(test::select(elements, "circle", "dot").size(), 2u);
    EXPECT_TRUE(test::select(elements, "path", "curve").empty());
    EXPECT_THAT(to_svg(plot_of({3}, {0.5}, Mark::points)).markup, HasSubstr("training, step 3: 0.5"));
}

TEST(SvgPlot, HoveringAnywhereShowsAllSeries) {
    LinePlot plot = plot_of({0, 10, 20}, {1, 2, 3});
    plot.series.push_back({"validation", {20}, {0.5}});
    plot.x.whole = true;
    const auto elements = elements_of(plot);
    const auto strips = test::select(elements, "rect", "hover");
    ASSERT_EQ(strips.size(), 3u);
    double covered = 0;
    for (const Element& strip : strips) {
        covered += strip.number("width");
    }
    EXPECT_GT(covered, 450);
    const auto tooltips = test::select(elements, "title");
    EXPECT_EQ(tooltips.at(0).text, "step 0\ntraining: 1\nvalidation: 0.5 (step 20)");
    EXPECT_EQ(tooltips.at(2).text, "step 20\ntraining: 3\nvalidation: 0.5");
}

TEST(SvgPlot, LongSeriesStaySmallAndKeepTheirSpike) {
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < 200'000; ++i) {
        x.push_back(i);
        y.push_back(i == 123'456 ? 50 : 1 + 0.5 * std::sin(i));
    }
    const Svg svg = to_svg(plot_of(x, y));
    EXPECT_LT(svg.markup.size(), 60'000u);
    const auto points =
        test::path_points(test::select(test::parse_markup(svg.markup), "path", "curve").at(0).attribute("d"));
    double top = 1e9;
    double bottom = 0;
    for (const auto& point : points) {
        top = std::min(top, point.second);
        bottom = std::max(bottom, point.second);
    }
    EXPECT_GT(bottom - top, 100);  // without the spike the curve would be three percent of that
}

TEST(SvgPlot, AreasStackUpToTheirSum) {
    LinePlot plot;
    plot.series = {{"a", {0, 1}, {1, 1}, Mark::area}, {"b", {0, 1}, {3, NAN}, Mark::area}};
    plot.y.low = 0;
    plot.y.high = 4;
    const auto areas = test::select(elements_of(plot), "path", "area");
    ASSERT_EQ(areas.size(), 2u);
    const auto lower = test::path_points(areas[0].attribute("d"));
    const auto upper = test::path_points(areas[1].attribute("d"));
    ASSERT_EQ(lower.size(), 4u);
    ASSERT_EQ(upper.size(), 4u);
    const double bottom = lower[2].second;
    const double unit = bottom - lower[0].second;
    EXPECT_NEAR(bottom - upper[0].second, 4 * unit, 0.3);
    EXPECT_NEAR(upper[1].second, lower[1].second, 0.1);  // nothing measured: nothing added
    EXPECT_NEAR(upper[3].second, lower[0].second, 0.1);  // starts where the other ends
}

TEST(SvgPlot, LimitsAndEventsAreLabelledWithoutOverlap) {
    LinePlot plot = plot_of({0, 100}, {0, 10});
    plot.limits = {{9.9, "link"}, {9.8, "memory"}};
    for (int i = 0; i < 50; ++i) {
        plot.events.push_back({i * 2.0, "resume", "from checkpoint " + std::to_string(i), true});
        plot.events.push_back({i * 2.0, "checkpoint", "", false});
    }
    const auto elements = elements_of(plot);
    EXPECT_EQ(test::select(elements, "line", "limit").size(), 2u);
    EXPECT_EQ(test::select(elements, "line", "event").size(), 50u);
    double last = -100;
    std::vector<double> limit_rows;
    for (const Element& text : test::select(elements, "text")) {
        if (text.text == "resume") {
            EXPECT_GT(text.number("x"), last + text_width("resume", 11));
            last = text.number("x");
        }
        if (text.text == "link" || text.text == "memory") {
            limit_rows.push_back(text.number("y"));
        }
    }
    ASSERT_EQ(limit_rows.size(), 2u);
    EXPECT_GE(std::abs(limit_rows[0] - limit_rows[1]), 11);
    EXPECT_THAT(texts(elements), testing::Contains("checkpoint"));  // in the legend
}

TEST(SvgPlot, ThousandsOfMarksTakeNoMoreThanTheirPixels) {
    LinePlot plot = plot_of({0, 100000}, {0, 1});
    for (int i = 0; i < 100000; ++i) {
        plot.events.push_back({static_cast<double>(i), i % 2 == 0 ? "checkpoint" : "resize", "", i % 2 == 1});
    }
    EXPECT_LT(to_svg(plot).markup.size(), 100'000u);
}

TEST(SvgPlot, WorksWithoutDataAndWithOnePoint) {
    EXPECT_THAT(to_svg(LinePlot{}).markup, HasSubstr("no data"));
    EXPECT_THAT(to_svg(plot_of({}, {})).markup, HasSubstr("no data"));
    for (const Mark mark : {Mark::line, Mark::step, Mark::points}) {
        for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
            LinePlot plot = plot_of({7}, {3}, mark);
            plot.y.scale = scale;
            EXPECT_EQ(test::select(elements_of(plot), "circle", "dot").size(), 1u);
        }
    }
    const std::string markup = to_svg(plot_of({1, 2}, {NAN, NAN})).markup;
    EXPECT_EQ(markup.find("=\"nan"), std::string::npos);
}

TEST(SvgPlot, EscapesAllText) {
    LinePlot plot = plot_of({0, 1}, {0, 1});
    plot.title = plot.x.label = plot.y.label = plot.series[0].label = hostile;
    plot.series.push_back({hostile, {0, 1}, {0, 1}, Mark::points});
    plot.limits = {{0.5, hostile}};
    plot.events = {{0.5, hostile, hostile, true}, {0.5, hostile, hostile, false}};
    const auto elements = elements_of(plot);
    EXPECT_TRUE(test::select(elements, "script").empty());
    EXPECT_THAT(elements[0].attribute("aria-label"), HasSubstr("<script>alert('x')"));
}

TEST(SvgPlot, AFileOfItsOwnBringsItsStyle) {
    const std::string file = svg_file(to_svg(plot_of({0, 1}, {0, 1})));
    const auto elements = test::parse_markup(file);
    EXPECT_EQ(test::select(elements, "style").size(), 1u);
    EXPECT_THAT(file, testing::StartsWith("<?xml"));
    EXPECT_THAT(file, HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""));
    for (const char* part : {"prefers-color-scheme:dark", ".s0{", ".f7{"}) {
        EXPECT_THAT(file, HasSubstr(part));
    }
}

}  // namespace
}  // namespace mastic::report
