#include <mastic/report/plot_frame.hpp>

#include <algorithm>

#include <mastic/report/plot_style.hpp>

namespace mastic::report {
namespace {

constexpr double title_baseline = 15;
constexpr double swatch_width = 16;
constexpr double row_height = 18;

void draw_swatch(SvgCanvas& canvas, double x, double y, const LegendEntry& entry) {
    const double middle = y - 4;
    switch (entry.swatch) {
        case LegendEntry::Swatch::line:
        case LegendEntry::Swatch::limit:
            canvas.line(x, middle, x + swatch_width, middle, entry.style);
            break;
        case LegendEntry::Swatch::area:
            canvas.rectangle(x + 3, middle - 5, 10, 10, entry.style, "", 2);
            break;
        case LegendEntry::Swatch::dot:
            canvas.circle(x + swatch_width / 2, middle, 3.5, entry.style);
            break;
        case LegendEntry::Swatch::event:
            canvas.mark(x + swatch_width / 2, middle + 3, entry.style);
            break;
    }
}

}  // namespace

double draw_heading(SvgCanvas& canvas, int width, const std::string& title, const std::string& unit,
                    const std::vector<LegendEntry>& legend) {
    canvas.title(0, title_baseline, title, unit);
    double y = title_baseline;
    double x = 0;
    for (const LegendEntry& entry : legend) {
        const double needed = swatch_width + 5 + text_width(entry.label, label_size) + 16;
        if (x == 0 || x + needed > width) {
            x = 0;
            y += y == title_baseline ? row_height + 4 : row_height;
        }
        draw_swatch(canvas, x, y, entry);
        canvas.text(x + swatch_width + 5, y, entry.label, "muted");
        x += needed;
    }
    return y + 16;
}

double label_width(const std::vector<Tick>& ticks) {
    double widest = 0;
    for (const Tick& tick : ticks) {
        widest = std::max(widest, text_width(tick.label, label_size));
    }
    return widest + 10;
}

void draw_vertical_axis(SvgCanvas& canvas, const PlotArea& area, const AxisMap& map,
                        const std::vector<Tick>& ticks) {
    for (const Tick& tick : ticks) {
        const double y = map(tick.value);
        canvas.line(area.left, y, area.right(), y, "grid");
        canvas.text(area.left - 8, y + 4, tick.label, "muted", Anchor::end);
    }
}

void draw_horizontal_axis(SvgCanvas& canvas, const PlotArea& area, const AxisMap& map,
                          const std::vector<Tick>& ticks, std::string_view name, bool grid) {
    canvas.line(area.left, area.bottom(), area.right(), area.bottom(), "axis");
    for (const Tick& tick : ticks) {
        const double x = map(tick.value);
        if (grid) {
            canvas.line(x, area.top, x, area.bottom(), "grid");
        }
        canvas.line(x, area.bottom(), x, area.bottom() + 4, "axis");
        canvas.text(x, area.bottom() + 17, tick.label, "muted", Anchor::middle);
    }
    canvas.text(area.left + area.width / 2, area.bottom() + 33, name, "muted", Anchor::middle);
}

}  // namespace mastic::report
