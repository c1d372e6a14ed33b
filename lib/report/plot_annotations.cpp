#include <mastic/report/plot_annotations.hpp>

#include <cmath>

#include <mastic/report/plot_style.hpp>

namespace mastic::report {
namespace {

// Where the next of each kind may stand without touching the last.
struct FreeFrom {
    double mark;
    double line;
    double label;
};

void draw_event_line(SvgCanvas& canvas, const EventMark& event, const std::string& tooltip,
                     const PlotArea& area, double x, FreeFrom& free) {
    if (x < free.line) {
        return;
    }
    canvas.line(x, area.top, x, area.bottom(), "event", tooltip);
    free.line = x + 2;
    const double width = text_width(event.label, label_size);
    const bool to_the_left = x + 4 + width > area.right();
    const double start = to_the_left ? x - 4 - width : x + 4;
    if (start >= free.label) {
        canvas.text(start, area.top + 11, event.label, "muted halo");
        free.label = start + width + 4;
    }
}

}  // namespace

void draw_limits(SvgCanvas& canvas, const LinePlot& plot, const PlotArea& area, const AxisMap& y_map) {
    double last_label = -100;
    for (const Limit& limit : plot.limits) {
        const double y = y_map(limit.y);
        if (!(y >= area.top && y <= area.bottom())) {
            continue;
        }
        canvas.line(area.left, y, area.right(), y, "limit", limit.label);
        const bool below = std::abs(y - 4 - last_label) < label_size + 1 || y < area.top + 14;
        last_label = below ? y + 13 : y - 4;
        canvas.text(area.right() - 4, last_label, limit.label, "limit-text halo", Anchor::end);
    }
}

void draw_events(SvgCanvas& canvas, const LinePlot& plot, const PlotArea& area, const AxisMap& x_map) {
    FreeFrom free{area.left - 1, area.left - 1, area.left - 1};
    for (const EventMark& event : plot.events) {
        const double x = x_map(event.x);
        if (!(x >= area.left && x <= area.right())) {
            continue;
        }
        const std::string tooltip = event.tooltip.empty() ? event.label : event.tooltip;
        if (event.line) {
            draw_event_line(canvas, event, tooltip, area, x, free);
        } else if (x >= free.mark) {
            canvas.mark(x, area.top, "event-mark", tooltip);
            free.mark = x + 3;
        }
    }
}

}  // namespace mastic::report
