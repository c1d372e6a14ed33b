// mastic-rescale report: the page of a simulation, from what a manager has really done.
#include <algorithm>
#include <iostream>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/named.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/report/run_record.hpp>
#include <mastic/schedule/command/desk.hpp>
#include <mastic/schedule/manager/live_history.hpp>
#include <mastic/schedule/simulation_report.hpp>

namespace mastic::schedule {
namespace {

constexpr std::size_t shown_nodes = 32;
constexpr std::size_t shown_events = 500;

constexpr const char* definitions =
    "Given are the node-seconds in which nodes were idle or filled by a pilot. Of these, computing are those "
    "in which a "
    "pilot was a member of its training; wasted are the others: starting (its program starts, loads and "
    "catches up) and "
    "unused. Progress counts in node-hours of one node: the samples of a training / its samples per second "
    "and node at the "
    "fewest nodes at which it was measured.";

std::string time_text(double time_s) {
    return report::to_string(report::Time(std::chrono::seconds(static_cast<std::int64_t>(time_s))));
}

report::HtmlTable table_of(const std::vector<Training>& trainings) {
    report::HtmlTable table{{"training", "state", "samples", "node-hours", "nodes", "why"}, {}, {2, 3}};
    for (const Training& one : trainings) {
        const TrainingRecord& record = one.record;
        table.rows.push_back({one.id, to_string(record.state), report::grouped(record.samples),
                              report::fixed(record.node_seconds / 3600, 2),
                              std::to_string(record.pilots.size()) + " of " +
                                  std::to_string(one.order.least) + ".." + std::to_string(one.order.most),
                              one.problem.empty()
                                  ? record.reason.empty() ? record.target_reason : record.reason
                                  : one.problem});
    }
    return table;
}

std::string change_of(const Event& event) {
    return event.kind == EventKind::decision
               ? std::to_string(event.from) + " to " + std::to_string(event.to) + " nodes"
               : "";
}

// The newest ones, without the steady news of progress.
report::HtmlTable table_of(const std::vector<Event>& events) {
    report::HtmlTable table{{"when", "what", "training", "node", "job", "change", ""}, {}, {}};
    for (auto event = events.rbegin(); event != events.rend() && table.rows.size() < shown_events; ++event) {
        if (event->kind != EventKind::progress) {
            table.rows.push_back({time_text(event->time_s), to_string(event->kind), event->training,
                                  event->node, event->job, change_of(*event), event->text});
        }
    }
    return table;
}

void refuse_to_replace_state(const StateDirectory& state, const std::filesystem::path& out) {
    const auto place = std::filesystem::weakly_canonical(out);
    const auto directory = std::filesystem::weakly_canonical(state.path());
    const bool below = std::ranges::mismatch(directory, place).in1 == directory.end();
    if (below && place.extension() != ".html") {
        throw Error(ExitCode::usage, out.string() + " is in the state directory, whose files must not be replaced",
                    "name a file elsewhere, or one with the ending .html");
    }
}

}  // namespace

int report_command(const CommandContext& context) {
    const StateDirectory state = open_state(context);
    const EventHistory events = read_events(state.events_file());
    if (events.events.empty()) {
        throw Error(ExitCode::data, "nothing has happened in " + state.path().string() + " yet",
                    "a manager writes its events there: mastic-rescale serve");
    }
    const bool lives = state.manager().has_value();
    const LiveHistory history =
        live_history(events.events, lives ? seconds_since_1970() : events.events.back().time_s, shown_nodes);
    const SiteLog log{"events", history.trace, OddRows("events.jsonl", false), ""};
    const SimulationSettings settings;
    SimulationReport report{
        state.path().filename().string() + " since " + time_text(history.begin_s), &log, &settings, {}};
    report.runs.push_back({&require_named(policy_kinds(), "mastic", "policy"), history.result, {}});
    const LiveNotes notes{history.nodes, history.jobs, definitions, table_of(state.trainings()),
                          table_of(events.events)};
    const auto& arguments = context.invocation.positionals;
    const std::string out = arguments.size() > 1 ? arguments[1] : (state.path() / "report.html").string();
    refuse_to_replace_state(state, out);
    if (context.invocation.dry_run) {
        std::cout << "would write " << out << " from " << events.events.size() << " events\n";
        return 0;
    }
    write_file_atomically(out, live_page(report, notes), arguments.size() > 1 ? 0644 : 0600);
    std::cout << "wrote " << out << ": open it in a browser\n";
    return 0;
}

}  // namespace mastic::schedule
