#include <mastic/schedule/simulation_report.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <mastic/core/duration.hpp>
#include <mastic/report/bar_chart.hpp>
#include <mastic/report/gantt_chart.hpp>
#include <mastic/report/html_page.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/report/svg_plot.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::schedule {
namespace {

using report::fixed;
using report::grouped;
using report::percent;

constexpr double hour = 3600;

std::string node_hours(double node_seconds) {
    return grouped(static_cast<std::int64_t>(node_seconds / hour + 0.5));
}

double share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

const std::vector<std::string> header = {"policy", "progress", "efficiency", "computing", "starting",
                                         "paused", "unused",   "rescales",   "finished"};

std::vector<std::vector<std::string>> rows_of(const std::vector<PolicyRun>& runs) {
    std::vector<std::vector<std::string>> rows;
    for (const PolicyRun& run : runs) {
        const NodeSeconds& nodes = run.result.nodes;
        rows.push_back({run.kind->name, node_hours(run.result.progress),
                        run.efficiency ? fixed(*run.efficiency, 4) : "-",
                        percent(share(nodes.computing, nodes.given)),
                        percent(share(nodes.starting, nodes.given)),
                        percent(share(nodes.paused, nodes.given)), percent(share(nodes.unused, nodes.given)),
                        grouped(run.result.rescales), grouped(run.result.finished)});
    }
    return rows;
}

constexpr const char* definitions =
    "Progress is counted in node-hours of one node: a training on n nodes makes rate(n) / rate(1) of them an "
    "hour. "
    "Efficiency is progress / progress of the oracle, which knows all throughput curves and rescales for "
    "free, on the "
    "same log and the same queue of trainings. Of the idle node-seconds, computing are those in which a "
    "training ran; "
    "wasted are the others: starting (given to a training that does not use them yet), paused (a training "
    "stands still "
    "because its nodes change) and unused.";

const PolicyRun* find_run(const SimulationReport& report, std::string_view name) {
    const auto found =
        std::ranges::find_if(report.runs, [name](const PolicyRun& run) { return run.kind->name == name; });
    return found == report.runs.end() ? nullptr : &*found;
}

// The one to show in detail.
const PolicyRun& shown_run(const SimulationReport& report) {
    const PolicyRun* own = find_run(report, "mastic");
    return own != nullptr ? *own : report.runs.back();
}

struct TimeUnit {
    const char* name;
    double seconds;
};

TimeUnit unit_of(const IdleTrace& trace) {
    return trace.end < 2 * hour    ? TimeUnit{"minutes", 60}
           : trace.end < 48 * hour ? TimeUnit{"hours", hour}
                                   : TimeUnit{"days", 24 * hour};
}

report::LinePlot progress_plot(const SimulationReport& report) {
    report::LinePlot plot;
    plot.title = "Progress";
    const TimeUnit unit = unit_of(report.log->trace);
    plot.x = {.label = unit.name, .low = {}, .high = {}};
    plot.y = {.label = "node-hours of one node", .low = 0.0, .high = {}};
    for (const PolicyRun& run : report.runs) {
        report::Series line{.label = run.kind->name, .x = {}, .y = {}};
        for (const ReplaySample& sample : run.result.samples) {
            line.x.push_back(sample.time / unit.seconds);
            line.y.push_back(sample.progress / hour);
        }
        plot.series.push_back(std::move(line));
    }
    plot.height = 340;
    return plot;
}

report::LinePlot nodes_plot(const SimulationReport& report) {
    const PolicyRun& run = shown_run(report);
    report::LinePlot plot;
    plot.title = std::string("Idle nodes, and those filled by ") + run.kind->name;
    const TimeUnit unit = unit_of(report.log->trace);
    plot.x = {.label = unit.name, .low = {}, .high = {}};
    plot.y = {.label = "nodes", .whole = true, .low = 0.0, .high = {}};
    report::Series idle{.label = "idle", .x = {}, .y = {}, .mark = report::Mark::step};
    report::Series held{.label = "filled", .x = {}, .y = {}, .mark = report::Mark::step};
    for (const ReplaySample& sample : run.result.samples) {
        idle.x.push_back(sample.time / unit.seconds);
        idle.y.push_back(sample.idle);
        held.x.push_back(sample.time / unit.seconds);
        held.y.push_back(sample.held);
    }
    plot.series = {std::move(idle), std::move(held)};
    plot.height = 340;
    return plot;
}

report::Svg waste_chart(const SimulationReport& report) {
    report::BarChart chart;
    chart.title = "Where the idle node-hours went";
    chart.unit = "node-hours";
    chart.segments = {"computing", "starting", "unused", "paused"};  // in the colours of the nodes below
    for (const PolicyRun& run : report.runs) {
        const NodeSeconds& nodes = run.result.nodes;
        chart.bars.push_back(
            {run.kind->name,
             {nodes.computing / hour, nodes.starting / hour, nodes.unused / hour, nodes.paused / hour}});
    }
    chart.width = 1144;
    return to_svg(chart);
}

// The name that was given to this number; without names "node 3".
std::string name_of(const std::vector<std::string>& names, std::int64_t number, const char* noun) {
    const auto index = static_cast<std::size_t>(number);
    return index < names.size() ? names[index] : noun + (" " + std::to_string(number));
}

report::Svg node_chart(const PolicyRun& run, const LiveNotes& notes) {
    report::GanttChart chart;
    chart.title = std::string("Nodes filled by ") + run.kind->name;
    chart.kinds = {"computing", "starting", "unused"};
    int last = -1;
    for (const NodeSpan& span : run.result.spans) {
        if (span.node != last) {
            chart.rows.push_back({name_of(notes.nodes, span.node, "node"), {}});
            last = span.node;
        }
        chart.rows.back().intervals.push_back(
            {span.begin, span.end, static_cast<int>(span.kind),
             span.job >= 0 ? name_of(notes.jobs, span.job, "job") : "unused"});
    }
    return to_svg(chart);
}

std::vector<report::Tile> tiles_of(const SimulationReport& report) {
    const IdleTrace& trace = report.log->trace;
    const PolicyRun& run = shown_run(report);
    std::vector<report::Tile> tiles = {
        {"idle", node_hours(trace.idle_node_seconds()), "node-hours in " + human(Seconds(trace.end))},
        {"progress", node_hours(run.result.progress),
         std::string("node-hours of one node, by ") + run.kind->name}};
    if (run.efficiency) {
        tiles.push_back({"efficiency", percent(*run.efficiency), "of the oracle"});
    }
    if (const PolicyRun* fixed_size = find_run(report, "fixed");
        fixed_size && fixed_size->result.progress > 0) {
        tiles.push_back({"gain",
                         report::significant(run.result.progress / fixed_size->result.progress, 3) + "x",
                         "over jobs of a fixed size"});
    }
    return tiles;
}

void add_pictures(report::HtmlPage& page, const SimulationReport& report, const LiveNotes& notes) {
    page.plots({waste_chart(report)});
    page.section("Over time");
    page.plots({to_svg(progress_plot(report)), to_svg(nodes_plot(report))});
    if (const PolicyRun& run = shown_run(report); !run.result.spans.empty()) {
        page.section("Nodes being filled");
        page.note("Some of the nodes, in a part of the time; blank: somebody else's job runs there.");
        page.plots({node_chart(run, notes)});
    }
}

std::vector<std::vector<std::string>> policy_rows(const SimulationReport& report) {
    std::vector<std::vector<std::string>> rows;
    for (const PolicyRun& run : report.runs) {
        rows.push_back({run.kind->name, run.kind->description});
    }
    return rows;
}

}  // namespace

std::string describe(const IdleTrace& trace) {
    return grouped(trace.nodes) + " nodes, " + human(Seconds(trace.end)) + ", on average " +
           fixed(share(trace.idle_node_seconds(), trace.end), 1) + " idle";
}

std::string simulation_text(const SimulationReport& report) {
    std::string text = report.log_name + ": " + describe(report.log->trace) + "\n\n";
    text += report::to_text({header, rows_of(report.runs)});
    text +=
        "\nprogress in node-hours of one node; efficiency = progress / progress of the oracle; the shares "
        "are of the ";
    return text + node_hours(report.log->trace.idle_node_seconds()) + " idle node-hours\n";
}

std::string simulation_json(const SimulationReport& report) {
    nlohmann::ordered_json policies = nlohmann::ordered_json::array();
    for (const PolicyRun& run : report.runs) {
        const ReplayResult& result = run.result;
        nlohmann::ordered_json entry = {{"policy", run.kind->name},
                                        {"progress_node_s", result.progress},
                                        {"given_node_s", result.nodes.given},
                                        {"computing_node_s", result.nodes.computing},
                                        {"starting_node_s", result.nodes.starting},
                                        {"paused_node_s", result.nodes.paused},
                                        {"unused_node_s", result.nodes.unused},
                                        {"wasted_node_s", result.nodes.wasted()},
                                        {"rescales", result.rescales},
                                        {"departures", result.departures},
                                        {"finished", result.finished},
                                        {"decisions", result.decisions},
                                        {"kept", result.kept}};
        if (run.efficiency) {
            entry["efficiency"] = *run.efficiency;
        }
        policies.push_back(std::move(entry));
    }
    const IdleTrace& trace = report.log->trace;
    const nlohmann::ordered_json document = {{"format", 1},
                                             {"log",
                                              {{"name", report.log_name},
                                               {"format", report.log->format},
                                               {"nodes", trace.nodes},
                                               {"seconds", trace.end},
                                               {"idle_node_s", trace.idle_node_seconds()},
                                               {"odd_rows", report.log->odd.count()},
                                               {"note", report.log->note}}},
                                             {"seed", report.settings->workload.seed},
                                             {"jobs", report.settings->workload.slots},
                                             {"policies", std::move(policies)}};
    return document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string simulation_page(const SimulationReport& report) {
    report::HtmlPage page("Filling idle nodes", report.log_name + ": " + describe(report.log->trace));
    page.tiles(tiles_of(report));
    page.note(definitions);
    if (!report.log->note.empty()) {
        page.note(report.log->note, report::Tone::warning);
    }
    page.section("Policies");
    page.table({header, rows_of(report.runs), {1, 2, 3, 4, 5, 6, 7, 8}});
    page.details("What the policies are",
                 report::HtmlTable{{"policy", "what it does"}, policy_rows(report), {}});
    add_pictures(page, report, {});
    if (report.log->odd.count() > 0) {
        page.details(grouped(static_cast<std::int64_t>(report.log->odd.count())) + " odd rows were left out",
                     report.log->odd.text(200));
    }
    return page.str();
}

std::string live_page(const SimulationReport& report, const LiveNotes& notes) {
    report::HtmlPage page("Filling idle nodes", report.log_name + ": " + describe(report.log->trace));
    page.tiles(tiles_of(report));
    page.note(notes.definitions);
    page.section("Trainings");
    page.table(notes.trainings);
    page.section("Node-hours");
    page.table({header, rows_of(report.runs), {1, 2, 3, 4, 5, 6, 7, 8}});
    add_pictures(page, report, notes);
    page.details("What happened", notes.happened);
    return page.str();
}

}  // namespace mastic::schedule
