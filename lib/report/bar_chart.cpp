#include <mastic/report/bar_chart.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/report/number_format.hpp>
#include <mastic/report/plot_frame.hpp>
#include <mastic/report/plot_style.hpp>
#include <mastic/report/utf8.hpp>

namespace mastic::report {
namespace {

constexpr double bar_pitch = 24;
constexpr double bar_thickness = 16;

double shown(double value) {
    return std::isfinite(value) && value > 0 ? value : 0;
}

double total(const Bar& bar) {
    double sum = 0;
    for (const double value : bar.values) {
        sum += shown(value);
    }
    return sum;
}

std::vector<LegendEntry> legend_of(const BarChart& chart) {
    std::vector<LegendEntry> legend;
    for (std::size_t i = 0; i < chart.segments.size() && chart.segments.size() > 1; ++i) {
        legend.push_back({chart.segments[i], fill_class(static_cast<int>(i)), LegendEntry::Swatch::area});
    }
    return legend;
}

void draw_bar(SvgCanvas& canvas, const BarChart& chart, const Bar& bar, const AxisMap& map, double y) {
    double start = 0;
    for (std::size_t i = 0; i < bar.values.size() && i < chart.segments.size(); ++i) {
        const double value = shown(bar.values[i]);
        if (value > 0) {
            canvas.rectangle(
                map(start), y, map(start + value) - map(start), bar_thickness,
                "area " + fill_class(static_cast<int>(i)),
                bar.label + ", " + chart.segments[i] + ": " + significant(value) + " " + chart.unit, 2);
        }
        start += value;
    }
    canvas.text(map(start) + 6, y + 12, significant(start, 3), "muted halo");
}

}  // namespace

Svg to_svg(const BarChart& chart) {
    SvgCanvas canvas(chart.width, chart.title + ", " + chart.unit);
    PlotArea area;
    area.top = draw_heading(canvas, chart.width, chart.title, chart.unit, legend_of(chart));
    area.height = bar_pitch * static_cast<double>(chart.bars.size());
    double longest = 0;
    for (const Bar& bar : chart.bars) {
        longest = std::max(longest, total(bar));
        area.left = std::max(area.left, text_width(shortened(bar.label, label_characters), 11) + 10);
    }
    // Room at the end for the number of the longest bar.
    area.width = chart.width - area.left - 46;
    const Range range{0, longest > 0 ? longest : 1};
    const AxisMap map(Scale::linear, range, area.left, area.right());
    draw_horizontal_axis(canvas, area, map, ticks(range, Scale::linear, static_cast<int>(area.width / 85)),
                         chart.unit, true);
    double y = area.top + (bar_pitch - bar_thickness) / 2;
    for (const Bar& bar : chart.bars) {
        canvas.text(area.left - 8, y + 12, shortened(bar.label, label_characters), "", Anchor::end);
        draw_bar(canvas, chart, bar, map, y);
        y += bar_pitch;
    }
    return canvas.finish(static_cast<int>(std::ceil(area.bottom() + horizontal_axis_height)));
}

}  // namespace mastic::report
