#include <mastic/tuning/table_report.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mastic/report/html_page.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/report/svg_plot.hpp>
#include <mastic/report/text_table.hpp>
#include <mastic/tuning/time_text.hpp>

namespace mastic::tuning {
namespace {

using comm::Choice;
using comm::Collective;
using comm::Wire;

std::string title_of(const CollectiveResult& series) {
    std::string title = comm::to_string(series.collective);
    if (series.memory == comm::MemoryKind::device) {
        title += " of device memory";
    }
    if (series.wire != Wire::exact) {
        title += std::string(" on ") + comm::to_string(series.wire);
    }
    return title;
}

double gigabytes_per_second(const CollectiveResult& series, int ranks, Bytes bytes, double us) {
    return static_cast<double>(bytes.count) / (us * 1e3) * bus_factor(series.collective, ranks);
}

// "up to 128K", the last: "larger".
std::string limit_text(const CollectiveResult& series, std::size_t i) {
    return i + 1 == series.sizes.size() ? "larger" : "up to " + human(series.sizes[i].up_to);
}

// Neighbouring sizes with one choice as one row: measured sizes, limit, choice, times.
std::vector<std::vector<std::string>> choice_rows(const CollectiveResult& series, int ranks) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < series.sizes.size(); ++i) {
        const Candidate& chosen = series.sizes[i].chosen();
        const double rate =
            gigabytes_per_second(series, ranks, series.sizes[i].bytes, chosen.timing.median_us);
        rows.push_back({mastic::to_string(series.sizes[i].bytes), limit_text(series, i),
                        comm::to_string(chosen.choice), time_text(chosen.timing.median_us),
                        time_text(chosen.timing.q1_us), time_text(chosen.timing.q3_us),
                        report::significant(rate, 3)});
    }
    return rows;
}

// A line per transport and algorithm: its best segment and depth at each size.
struct Curve {
    std::string label;
    std::vector<double> us;  // by size; not a number: not measured
};

std::string curve_label(const Choice& choice) {
    const bool native = choice.transport == comm::TransportKind::native;  // its algorithms say so themselves
    return (native ? "" : std::string(comm::to_string(choice.transport)) + " ") + choice.algorithm +
           (choice.hierarchical ? ", hierarchical" : "");
}

std::vector<Curve> curves_of(const CollectiveResult& series) {
    std::vector<Curve> curves;
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < series.sizes.size(); ++i) {
        for (const Candidate& candidate : series.sizes[i].candidates) {
            if (candidate.verdict == Verdict::wrong) {
                continue;
            }
            const std::string label = curve_label(candidate.choice);
            auto found = std::ranges::find(curves, label, &Curve::label);
            if (found == curves.end()) {
                curves.push_back({label, std::vector<double>(series.sizes.size(), unknown)});
                found = curves.end() - 1;
            }
            found->us[i] = std::fmin(found->us[i], candidate.timing.median_us);
        }
    }
    return curves;
}

// More lines than colours cannot be told apart: those that come closest to the best at some size stay.
void keep_best(std::vector<Curve>& curves) {
    constexpr std::size_t most = 8;
    const std::size_t sizes = curves.empty() ? 0 : curves.front().us.size();
    std::vector<double> best(sizes, std::numeric_limits<double>::infinity());
    for (const Curve& curve : curves) {
        for (std::size_t i = 0; i < sizes; ++i) {
            best[i] = std::fmin(best[i], curve.us[i]);
        }
    }
    const auto distance = [&best](const Curve& curve) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < curve.us.size(); ++i) {
            least = std::fmin(least, curve.us[i] / best[i]);
        }
        return least;
    };
    std::ranges::stable_sort(curves, {}, distance);
    curves.resize(std::min(curves.size(), most));
}

// The rate of the network, which all ranks of a node share: they get no more than this over it.
void add_limits(report::LinePlot& plot, const Machine& machine, const GroupShape& shape,
                const std::vector<LinkFit>& links) {
    if (shape.nodes > 1 && machine.network_bits_per_second > 0) {
        plot.limits.push_back(
            {static_cast<double>(machine.network_bits_per_second) / 8e9,
             machine.network + " " +
                 report::significant(static_cast<double>(machine.network_bits_per_second) / 1e9, 3) +
                 " Gbit/s"});
    }
    for (const LinkFit& link : links) {
        const bool memory =
            shape.nodes == 1 && link.level == Level::node && link.transport == comm::TransportKind::shm;
        if (memory && link.cost.beta_us_per_byte > 0) {
            plot.limits.push_back({1e-3 / link.cost.beta_us_per_byte, "fitted rate of shared memory"});
        }
    }
}

report::LinePlot plot_of(const TuningTable& table, const ShapeResult& result,
                         const CollectiveResult& series) {
    report::LinePlot plot;
    plot.title = title_of(series);
    plot.x = {.label = "bytes", .scale = report::Scale::logarithmic, .low = {}, .high = {}};
    plot.y = {.label = "bus bandwidth, GB/s", .scale = report::Scale::logarithmic, .low = {}, .high = {}};
    std::vector<Curve> curves = curves_of(series);
    keep_best(curves);
    for (const Curve& curve : curves) {
        report::Series line{.label = curve.label, .x = {}, .y = {}};
        for (std::size_t i = 0; i < series.sizes.size(); ++i) {
            line.x.push_back(static_cast<double>(series.sizes[i].bytes.count));
            line.y.push_back(
                gigabytes_per_second(series, result.shape.ranks(), series.sizes[i].bytes, curve.us[i]));
        }
        plot.series.push_back(std::move(line));
    }
    add_limits(plot, table.machine, result.shape, table.links);
    plot.height = 340;
    return plot;
}

const std::vector<std::string> choice_header = {"measured",       "holds",          "choice", "median",
                                                "lower quartile", "upper quartile", "GB/s"};

report::HtmlTable links_table(const std::vector<LinkFit>& links) {
    report::HtmlTable table{
        {"transport", "between", "alpha, us", "1/beta, GB/s", "1/gamma, GB/s", "samples", "typical error"},
        {},
        {2, 3, 4, 5, 6}};
    const auto rate = [](double us_per_byte) {
        return us_per_byte > 0 ? report::significant(1e-3 / us_per_byte, 3) : std::string("-");
    };
    for (const LinkFit& link : links) {
        table.rows.push_back({comm::to_string(link.transport),
                              link.level == Level::node ? "ranks of a node" : "nodes",
                              report::significant(link.cost.alpha_us, 3), rate(link.cost.beta_us_per_byte),
                              rate(link.cost.gamma_us_per_byte), std::to_string(link.samples),
                              report::percent(link.typical_error, 0)});
    }
    return table;
}

}  // namespace

double bus_factor(Collective collective, int ranks) {
    const double p = ranks;
    switch (collective) {
        case Collective::allreduce:
            return 2 * (p - 1) / p;
        case Collective::reduce_scatter:
        case Collective::allgather:
            return (p - 1) / p;
        case Collective::broadcast:
            break;
    }
    return 1;
}

std::string table_text(const TuningTable& table) {
    std::string text = to_string(table.machine) + "\nmeasured " + table.created + " by mastic " +
                       table.machine.mastic + "\n";
    for (const ShapeResult& result : table.shapes) {
        for (const CollectiveResult& series : result.collectives) {
            text += "\n" + to_string(result.shape) + ", " + title_of(series) + "\n";
            text += report::to_text({choice_header, choice_rows(series, result.shape.ranks())});
        }
    }
    for (const std::string& note : table.notes) {
        text += "\nnote: " + note;
    }
    return text + (table.notes.empty() ? "" : "\n");
}

std::string table_page(const TuningTable& table, const std::string& name) {
    report::HtmlPage page(
        "Collectives of " + (table.machine.cpu.empty() ? name : table.machine.cpu),
        to_string(table.machine) + "; measured " + table.created + " by mastic " + table.machine.mastic);
    page.note(
        "Bus bandwidth is bytes / time, times 2(p-1)/p for allreduce, (p-1)/p for reduce-scatter and "
        "allgather and 1 "
        "for broadcast, of p ranks. A line is an algorithm with its best segment; at most 8 lines of a plot "
        "are shown.");
    for (const ShapeResult& result : table.shapes) {
        page.section(to_string(result.shape));
        std::vector<report::Svg> plots;
        for (const CollectiveResult& series : result.collectives) {
            plots.push_back(to_svg(plot_of(table, result, series)));
        }
        page.plots(plots);
        for (const CollectiveResult& series : result.collectives) {
            page.details(
                "Choices for " + title_of(series),
                report::HtmlTable{choice_header, choice_rows(series, result.shape.ranks()), {3, 4, 5, 6}});
        }
    }
    if (!table.links.empty()) {
        page.section("Cost model");
        page.note(
            "Fitted to the measured plans; predicts shapes that have no rows. alpha: latency of a message; "
            "beta: time "
            "to transfer a byte; gamma: time to reduce a byte.");
        page.table(links_table(table.links));
    }
    if (!table.notes.empty()) {
        page.section("Not measured, or wrong");
        page.note(std::to_string(table.notes.size()) + (table.notes.size() == 1 ? " place" : " places") +
                      " where the table knows less than was asked for; a larger --budget measures more.",
                  report::Tone::warning);
        std::string all;
        for (const std::string& note : table.notes) {
            all += note + "\n";
        }
        page.details("What was left out", all);
    }
    return page.str();
}

}  // namespace mastic::tuning
