// Limit lines and events of line plots, labelled without overlap.
#pragma once

#include <mastic/report/plot_frame.hpp>
#include <mastic/report/svg_plot.hpp>

namespace mastic::report {

void draw_limits(SvgCanvas& canvas, const LinePlot& plot, const PlotArea& area, const AxisMap& y_map);

// Events that would cover an earlier one are left out, and labels that would.
void draw_events(SvgCanvas& canvas, const LinePlot& plot, const PlotArea& area, const AxisMap& x_map);

}  // namespace mastic::report
