#include <mastic/report/gantt_chart.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/core/duration.hpp>
#include <mastic/report/plot_frame.hpp>
#include <mastic/report/plot_style.hpp>
#include <mastic/report/utf8.hpp>

namespace mastic::report {
namespace {

struct TimeUnit {
    double seconds;
    const char* name;
};

TimeUnit unit_for(double span_s) {
    return span_s >= 3 * 3600 ? TimeUnit{3600, "h"}
           : span_s >= 180    ? TimeUnit{60, "min"}
           : span_s >= 1      ? TimeUnit{1, "s"}
                              : TimeUnit{1e-3, "ms"};
}

Range time_range(const GanttChart& chart) {
    std::vector<double> times;
    for (const GanttRow& row : chart.rows) {
        for (const Interval& interval : row.intervals) {
            times.insert(times.end(), {interval.begin_s, interval.end_s});
        }
    }
    return range_of({times}, Scale::linear);
}

// Joins what a screen cannot show apart.
std::vector<Interval> merged(std::vector<Interval> intervals, double second_per_pixel) {
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.begin_s < b.begin_s; });
    std::vector<Interval> result;
    for (Interval& interval : intervals) {
        const bool joins = !result.empty() && result.back().kind == interval.kind &&
                           interval.begin_s - result.back().end_s < second_per_pixel &&
                           std::min(interval.end_s - interval.begin_s,
                                    result.back().end_s - result.back().begin_s) < second_per_pixel;
        if (joins) {
            result.back().end_s = std::max(result.back().end_s, interval.end_s);
        } else {
            result.push_back(std::move(interval));
        }
    }
    return result;
}

void draw_row(SvgCanvas& canvas, const GanttChart& chart, const GanttRow& row, const AxisMap& map, double y,
              double thickness) {
    const double second_per_pixel = map.value_at(1) - map.value_at(0);
    for (const Interval& interval : merged(row.intervals, second_per_pixel)) {
        const double x = map(interval.begin_s);
        const double width = std::max(1.0, map(interval.end_s) - x);
        const std::string kind = interval.kind >= 0 && interval.kind < static_cast<int>(chart.kinds.size())
                                     ? chart.kinds[static_cast<std::size_t>(interval.kind)]
                                     : "";
        const std::string name = interval.label.empty() ? kind : interval.label + " (" + kind + ")";
        canvas.rectangle(x, y, width, thickness, "area " + fill_class(std::max(0, interval.kind)),
                         row.label + ": " + name + "\n" + human(Seconds(interval.begin_s)) + " + " +
                             human(Seconds(interval.end_s - interval.begin_s)),
                         width > 6 ? 2 : 0);
        if (!interval.label.empty() && thickness >= 14 && text_width(interval.label, 11) + 8 < width) {
            canvas.text(x + width / 2, y + thickness / 2 + 4, interval.label, "on-colour", Anchor::middle);
        }
    }
}

}  // namespace

Svg to_svg(const GanttChart& chart) {
    SvgCanvas canvas(chart.width, chart.title);
    std::vector<LegendEntry> legend;
    for (std::size_t i = 0; i < chart.kinds.size(); ++i) {
        legend.push_back({chart.kinds[i], fill_class(static_cast<int>(i)), LegendEntry::Swatch::area});
    }
    // Many nodes: thin rows, so that the chart fits a screen.
    const double pitch =
        std::clamp(640.0 / static_cast<double>(std::max<std::size_t>(1, chart.rows.size())), 3.0, 24.0);
    const bool labels = pitch >= 11;
    PlotArea area;
    area.top = draw_heading(canvas, chart.width, chart.title, "", legend);
    area.height = pitch * static_cast<double>(chart.rows.size());
    area.left = 10;
    for (const GanttRow& row : chart.rows) {
        if (labels) {
            area.left = std::max(area.left, text_width(shortened(row.label, label_characters), 11) + 10);
        }
    }
    area.width = chart.width - area.left - 20;
    const Range range = time_range(chart);
    const TimeUnit unit = unit_for(range.high - range.low);
    const Range in_units{range.low / unit.seconds, range.high / unit.seconds};
    const AxisMap unit_map(Scale::linear, in_units, area.left, area.right());
    draw_horizontal_axis(canvas, area, unit_map,
                         ticks(in_units, Scale::linear, static_cast<int>(area.width / 85)),
                         std::string("time (") + unit.name + ")", true);
    const AxisMap map(Scale::linear, range, area.left, area.right());
    double y = area.top;
    for (const GanttRow& row : chart.rows) {
        if (labels) {
            canvas.text(area.left - 8, y + pitch / 2 + 4, shortened(row.label, label_characters), "",
                        Anchor::end);
        }
        draw_row(canvas, chart, row, map, y + pitch * 0.1, pitch * 0.8);
        y += pitch;
    }
    return canvas.finish(static_cast<int>(std::ceil(area.bottom() + horizontal_axis_height)));
}

}  // namespace mastic::report
