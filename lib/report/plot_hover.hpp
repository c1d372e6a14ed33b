// Tooltips of line plots, without scripts: invisible strips that carry the values of all series near their x.
#pragma once

#include <string>

#include <mastic/report/plot_frame.hpp>
#include <mastic/report/svg_plot.hpp>

namespace mastic::report {

// "validation, step 1,200: 0.345" for one point of a series.
std::string value_text(const LinePlot& plot, const Series& series, std::size_t index);

// At most one strip per 8 pixels. Series of points have their own tooltips and are left out.
void draw_hover(SvgCanvas& canvas, const LinePlot& plot, const PlotArea& area, const AxisMap& x_map);

}  // namespace mastic::report
