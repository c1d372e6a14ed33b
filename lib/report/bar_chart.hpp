// Horizontal stacked bars: a breakdown per rank, per phase, per setting.
#pragma once

#include <string>
#include <vector>

#include <mastic/report/svg_canvas.hpp>

namespace mastic::report {

struct Bar {
    std::string label;
    std::vector<double> values;  // one per segment, >= 0; not finite or negative: nothing
};

struct BarChart {
    std::string title;
    std::string unit;                   // "ms per step"
    std::vector<std::string> segments;  // names of the parts, at least one
    std::vector<Bar> bars;              // from top to bottom
    int width = 560;                    // pixels; the height follows from the number of bars
};

Svg to_svg(const BarChart& chart);

}  // namespace mastic::report
