// What all charts share: heading with legend, and axes with ticks around the plot area.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/report/axis.hpp>
#include <mastic/report/svg_canvas.hpp>

namespace mastic::report {

struct LegendEntry {
    enum class Swatch { line, area, dot, event, limit };
    std::string label;
    std::string style;  // classes of the swatch
    Swatch swatch = Swatch::line;
};

// The plot area in pixels.
struct PlotArea {
    double left = 0;
    double top = 0;
    double width = 0;
    double height = 0;
    double right() const { return left + width; }
    double bottom() const { return top + height; }
};

// Title, what the value axis counts (muted, beside it), and the legend below, in as many rows as it takes.
// Returns the first free y.
double draw_heading(SvgCanvas& canvas, int width, const std::string& title, const std::string& unit,
                    const std::vector<LegendEntry>& legend);

// Pixels that the labels of these ticks take beside a vertical axis.
double label_width(const std::vector<Tick>& ticks);

void draw_vertical_axis(SvgCanvas& canvas, const PlotArea& area, const AxisMap& map,
                        const std::vector<Tick>& ticks);

// Labels under the area and the name of the axis under them: takes horizontal_axis_height below the area.
// `grid`: vertical lines over the area, as bars need them.
inline constexpr double horizontal_axis_height = 38;
void draw_horizontal_axis(SvgCanvas& canvas, const PlotArea& area, const AxisMap& map,
                          const std::vector<Tick>& ticks, std::string_view name, bool grid);

}  // namespace mastic::report
