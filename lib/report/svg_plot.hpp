// Plots of lines, steps, points and stacked areas over a common x axis.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mastic/report/axis.hpp>
#include <mastic/report/svg_canvas.hpp>

namespace mastic::report {

enum class Mark {
    line,
    step,    // holds its value until the next x
    points,  // no connection, x in any order
    area,    // stacked on the areas before it; all areas of a plot have the same x
};

struct Series {
    std::string label;
    std::vector<double> x;  // rising, except for points
    std::vector<double> y;  // as long as x; not finite: a gap (areas: nothing)
    Mark mark = Mark::line;
    int colour = -1;     // index of the palette; -1: the place in the list
    bool faint = false;  // background to another series of the same colour; not in tooltips
};

// A horizontal line at y.
struct Limit {
    double y = 0;
    std::string label;
};

// Something that happened at x. Lines go through the plot and carry their label, marks are small signs at its
// upper edge, with a legend entry per label.
struct EventMark {
    double x = 0;
    std::string label;
    std::string tooltip;
    bool line = false;
};

struct Axis {
    std::string label;
    Scale scale = Scale::linear;
    bool whole = false;         // counts, such as steps
    std::optional<double> low;  // default: from the data
    std::optional<double> high;
};

struct LinePlot {
    std::string title;
    Axis x;
    Axis y;  // its label stands beside the title
    std::vector<Series> series;
    std::vector<Limit> limits;
    std::vector<EventMark> events;
    int width = 560;   // pixels
    int height = 280;  // of everything
};

// Long series are downsampled to the width, spikes stay. Values beyond axis limits are cut off. Hovering
// shows the values of all series near that x. Works with no data at all ("no data").
Svg to_svg(const LinePlot& plot);

}  // namespace mastic::report
