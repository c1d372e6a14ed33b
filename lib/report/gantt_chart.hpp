// Who did what when: rows of coloured intervals over time.
#pragma once

#include <string>
#include <vector>

#include <mastic/report/svg_canvas.hpp>

namespace mastic::report {

struct Interval {
    double begin_s = 0;
    double end_s = 0;
    int kind = 0;       // index into GanttChart::kinds
    std::string label;  // inside the interval if there is room, and in its tooltip
};

struct GanttRow {
    std::string label;  // a node, a rank
    std::vector<Interval> intervals;
};

struct GanttChart {
    std::string title;
    std::vector<std::string> kinds;  // names of the colours
    std::vector<GanttRow> rows;
    int width = 1144;  // pixels; the height follows from the number of rows
};

// The axis counts in the unit that suits the span: ms, s, min or h. Intervals narrower than a pixel that
// follow each other in a row with the same kind are drawn as one.
Svg to_svg(const GanttChart& chart);

}  // namespace mastic::report
