#include <mastic/report/svg_plot.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/report/plot_annotations.hpp>
#include <mastic/report/plot_frame.hpp>
#include <mastic/report/plot_hover.hpp>
#include <mastic/report/plot_style.hpp>

namespace mastic::report {
namespace {

constexpr std::size_t dots_at_most = 60;  // a line with few points shows them

int colour_of(const LinePlot& plot, std::size_t index) {
    return plot.series[index].colour >= 0 ? plot.series[index].colour : static_cast<int>(index);
}

// Areas as they are drawn: each on top of those before it.
struct Stack {
    std::vector<std::vector<double>> tops;  // per area, in order
    explicit Stack(const LinePlot& plot) {
        std::vector<double> level;
        for (const Series& series : plot.series) {
            if (series.mark != Mark::area) {
                continue;
            }
            level.resize(series.y.size(), 0);
            for (std::size_t i = 0; i < series.y.size(); ++i) {
                level[i] += std::isfinite(series.y[i]) ? series.y[i] : 0;
            }
            tops.push_back(level);
        }
    }
};

Range x_range(const LinePlot& plot) {
    std::vector<std::span<const double>> lists;
    for (const Series& series : plot.series) {
        lists.emplace_back(series.x);
    }
    Range range = range_of(lists, plot.x.scale);
    return {plot.x.low.value_or(range.low), plot.x.high.value_or(range.high)};
}

Range y_range(const LinePlot& plot, const Stack& stack) {
    std::vector<double> extra;
    for (const Limit& limit : plot.limits) {
        extra.push_back(limit.y);
    }
    if (!stack.tops.empty() && plot.y.scale == Scale::linear) {
        extra.push_back(0);
    }
    std::vector<std::span<const double>> lists{extra};
    for (const Series& series : plot.series) {
        if (series.mark != Mark::area) {
            lists.emplace_back(series.y);
        }
    }
    lists.insert(lists.end(), stack.tops.begin(), stack.tops.end());
    Range range = range_of(lists, plot.y.scale);
    if (plot.y.low && plot.y.scale == Scale::linear) {
        range.low = std::min(*plot.y.low, range.high - 1e-9);
    }
    range = padded(range, plot.y.scale, 0.06);
    range = {plot.y.low.value_or(range.low), plot.y.high.value_or(range.high)};
    return range.high > range.low ? range : Range{range.low, range.low + 1};
}

std::vector<LegendEntry> legend_of(const LinePlot& plot) {
    std::vector<LegendEntry> legend;
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
        const Series& series = plot.series[i];
        const int colour = colour_of(plot, i);
        if (series.label.empty()) {
            continue;
        }
        if (series.mark == Mark::area) {
            legend.push_back({series.label, fill_class(colour), LegendEntry::Swatch::area});
        } else if (series.mark == Mark::points) {
            legend.push_back({series.label, fill_class(colour), LegendEntry::Swatch::dot});
        } else {
            legend.push_back(
                {series.label, "curve " + stroke_class(colour) + (series.faint ? " faint" : "")});
        }
    }
    // One series is named by the title.
    if (legend.size() == 1) {
        legend.clear();
    }
    for (const EventMark& event : plot.events) {
        const bool known = std::any_of(legend.begin(), legend.end(),
                                       [&](const LegendEntry& entry) { return entry.label == event.label; });
        if (!event.line && !known) {
            legend.push_back({event.label, "event-mark", LegendEntry::Swatch::event});
        }
    }
    return legend;
}

// Draws one plot; the members are what all its parts need.
class Painter {
  public:
    Painter(SvgCanvas& canvas, const LinePlot& plot, const PlotArea& area, Range x, Range y)
        : canvas_(canvas),
          plot_(plot),
          area_(area),
          x_(plot.x.scale, x, area.left, area.right()),
          y_(plot.y.scale, y, area.bottom(), area.top) {}

    const AxisMap& x_map() const { return x_; }
    const AxisMap& y_map() const { return y_; }

    void draw_areas(const Stack& stack) {
        std::size_t area = 0;
        for (std::size_t i = 0; i < plot_.series.size(); ++i) {
            if (plot_.series[i].mark != Mark::area) {
                continue;
            }
            std::vector<PixelPoint> outline = mapped(plot_.series[i].x, stack.tops[area]);
            const std::vector<double> ground(plot_.series[i].x.size(), 0);
            std::vector<PixelPoint> below =
                mapped(plot_.series[i].x, area == 0 ? ground : stack.tops[area - 1]);
            outline.insert(outline.end(), below.rbegin(), below.rend());
            std::erase_if(outline, [](const PixelPoint& point) { return !std::isfinite(point.x + point.y); });
            canvas_.polygon(outline, "area " + fill_class(colour_of(plot_, i)));
            ++area;
        }
    }

    void draw_curves() {
        for (std::size_t i = 0; i < plot_.series.size(); ++i) {
            const Series& series = plot_.series[i];
            if (series.mark != Mark::line && series.mark != Mark::step) {
                continue;
            }
            std::vector<PixelPoint> points = downsampled(mapped(series.x, series.y));
            if (series.mark == Mark::step) {
                points = staircase(points);
            }
            canvas_.path(points,
                         "curve " + stroke_class(colour_of(plot_, i)) + (series.faint ? " faint" : ""));
        }
    }

    void draw_dots() {
        for (std::size_t i = 0; i < plot_.series.size(); ++i) {
            const Series& series = plot_.series[i];
            const std::size_t most = series.mark == Mark::line && !series.faint ? dots_at_most : 1;
            const bool few = series.mark != Mark::area && series.x.size() <= most;
            if (series.mark != Mark::points && !few) {
                continue;
            }
            const std::vector<PixelPoint> points = mapped(series.x, series.y);
            for (std::size_t k = 0; k < points.size(); ++k) {
                if (std::isfinite(points[k].x + points[k].y)) {
                    canvas_.circle(points[k].x, points[k].y, 3, "dot " + fill_class(colour_of(plot_, i)),
                                   value_text(plot_, series, k));
                }
            }
        }
    }

  private:
    std::vector<PixelPoint> mapped(const std::vector<double>& x, const std::vector<double>& y) const {
        std::vector<PixelPoint> points;
        points.reserve(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            points.push_back({x_(x[i]), y_(y[i])});
        }
        return points;
    }

    static std::vector<PixelPoint> staircase(const std::vector<PixelPoint>& points) {
        std::vector<PixelPoint> stairs;
        for (const PixelPoint& point : points) {
            if (!stairs.empty() && !std::isnan(stairs.back().y)) {
                stairs.push_back({point.x, stairs.back().y});
            }
            stairs.push_back(point);
        }
        return stairs;
    }

    SvgCanvas& canvas_;
    const LinePlot& plot_;
    PlotArea area_;
    AxisMap x_;
    AxisMap y_;
};

}  // namespace

Svg to_svg(const LinePlot& plot) {
    SvgCanvas canvas(plot.width, plot.title + (plot.y.label.empty() ? "" : ", " + plot.y.label));
    const Stack stack(plot);
    const Range x = x_range(plot);
    const Range y = y_range(plot, stack);
    PlotArea area;
    area.top = draw_heading(canvas, plot.width, plot.title, plot.y.label, legend_of(plot));
    area.height = std::max(60.0, plot.height - area.top - horizontal_axis_height);
    const auto y_ticks = ticks(y, plot.y.scale, static_cast<int>(area.height / 28), plot.y.whole);
    area.left = label_width(y_ticks);
    area.width = plot.width - area.left - 20;
    Painter painter(canvas, plot, area, x, y);
    draw_vertical_axis(canvas, area, painter.y_map(), y_ticks);
    draw_horizontal_axis(canvas, area, painter.x_map(),
                         ticks(x, plot.x.scale, static_cast<int>(area.width / 85), plot.x.whole),
                         plot.x.label, false);
    // A pixel of room, so that lines along the border keep their width.
    canvas.enter_clip(area.left - 1, area.top - 1, area.width + 2, area.height + 2);
    painter.draw_areas(stack);
    painter.draw_curves();
    canvas.leave();
    draw_limits(canvas, plot, area, painter.y_map());
    draw_hover(canvas, plot, area, painter.x_map());
    draw_events(canvas, plot, area, painter.x_map());
    canvas.enter_clip(area.left - 4, area.top - 4, area.width + 8, area.height + 8);
    painter.draw_dots();
    canvas.leave();
    const bool empty = std::all_of(plot.series.begin(), plot.series.end(),
                                   [](const Series& series) { return series.x.empty(); });
    if (empty) {
        canvas.text(area.left + area.width / 2, area.top + area.height / 2, "no data", "muted",
                    Anchor::middle);
    }
    return canvas.finish(static_cast<int>(std::ceil(area.bottom() + horizontal_axis_height)));
}

}  // namespace mastic::report
