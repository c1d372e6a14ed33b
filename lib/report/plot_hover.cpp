#include <mastic/report/plot_hover.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/report/number_format.hpp>

namespace mastic::report {
namespace {

bool has_strips(const Series& series) {
    return series.mark != Mark::points && !series.faint && !series.x.empty();
}

std::string x_text(const LinePlot& plot, double x) {
    return plot.x.label + " " +
           (plot.x.whole && std::abs(x) < 1e15 ? grouped(std::llround(x)) : significant(x, 5));
}

std::string y_text(const LinePlot& plot, double y) {
    const std::string unit = plot.y.label.empty() ? "" : " " + plot.y.label;
    return significant(y) + unit;
}

std::size_t nearest(const std::vector<double>& sorted, double x) {
    const auto above = std::lower_bound(sorted.begin(), sorted.end(), x);
    if (above == sorted.begin()) {
        return 0;
    }
    if (above == sorted.end() || x - *(above - 1) <= *above - x) {
        return static_cast<std::size_t>(above - sorted.begin()) - 1;
    }
    return static_cast<std::size_t>(above - sorted.begin());
}

// Where strips stand: at the data if it is sparse, else evenly.
std::vector<double> strip_centres(const LinePlot& plot, const PlotArea& area, const AxisMap& x_map) {
    const auto most = static_cast<std::size_t>(area.width / 8);
    std::vector<double> places;
    for (const Series& series : plot.series) {
        if (has_strips(series)) {
            places.insert(places.end(), series.x.begin(), series.x.end());
        }
    }
    std::erase_if(places, [&](double x) {
        const double pixel = x_map(x);
        return !(pixel >= area.left - 0.5 && pixel <= area.right() + 0.5);
    });
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.size() > most) {
        places.clear();
        for (std::size_t i = 0; i < most; ++i) {
            places.push_back(x_map.value_at(area.left + (static_cast<double>(i) + 0.5) * area.width /
                                                            static_cast<double>(most)));
        }
    }
    return places;
}

// `reach`: pixels around the strip's centre in which a value needs no x of its own.
std::string strip_text(const LinePlot& plot, const AxisMap& x_map, double x, double reach) {
    std::string text = x_text(plot, x);
    for (const Series& series : plot.series) {
        if (!has_strips(series)) {
            continue;
        }
        const std::size_t at = nearest(series.x, x);
        text += "\n" + (series.label.empty() ? "" : series.label + ": ") + y_text(plot, series.y[at]);
        if (series.mark != Mark::step && std::abs(x_map(series.x[at]) - x_map(x)) > reach) {
            text += " (" + x_text(plot, series.x[at]) + ")";
        }
    }
    return text;
}

}  // namespace

std::string value_text(const LinePlot& plot, const Series& series, std::size_t index) {
    return (series.label.empty() ? "" : series.label + ", ") + x_text(plot, series.x[index]) + ": " +
           y_text(plot, series.y[index]);
}

void draw_hover(SvgCanvas& canvas, const LinePlot& plot, const PlotArea& area, const AxisMap& x_map) {
    const std::vector<double> centres = strip_centres(plot, area, x_map);
    double left = area.left;
    for (std::size_t i = 0; i < centres.size(); ++i) {
        const double right =
            i + 1 < centres.size() ? (x_map(centres[i]) + x_map(centres[i + 1])) / 2 : area.right();
        canvas.rectangle(left, area.top, right - left, area.height, "hover",
                         strip_text(plot, x_map, centres[i], (right - left) / 2 + 0.5));
        left = right;
    }
}

}  // namespace mastic::report
