#include <mastic/report/training_report.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/core/duration.hpp>
#include <mastic/report/config_listing.hpp>
#include <mastic/report/html_page.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/report/phases.hpp>
#include <mastic/report/statistics.hpp>
#include <mastic/report/training_plots.hpp>

namespace mastic::report {
namespace {

constexpr std::size_t events_shown = 200;

Tone tone_of(RunState state) {
    switch (state) {
        case RunState::finished:
            return Tone::good;
        case RunState::stopped:
            return Tone::warning;
        case RunState::failed:
        case RunState::crashed:
            return Tone::bad;
        default:
            return Tone::neutral;
    }
}

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : between) + word;
    }
    return text;
}

std::optional<BestMetric> best_of(const RunView& run) {
    if (run.record && run.record->best) {
        return run.record->best;
    }
    std::optional<BestMetric> best;
    for (const EvaluationRecord& evaluation : run.metrics.evaluations) {
        const auto at = evaluation.metrics.find("accuracy");
        if (at != evaluation.metrics.end() && (!best || at->second > best->value)) {
            best = BestMetric{"accuracy", at->second, evaluation.step};
        }
    }
    return best;
}

void add_quality_tiles(std::vector<Tile>& tiles, const RunView& run) {
    if (const auto best = best_of(run)) {
        tiles.push_back(
            {"best " + best->name, metric_value(best->name, best->value), "step " + grouped(best->step)});
    }
    if (!run.metrics.evaluations.empty()) {
        const EvaluationRecord& last = run.metrics.evaluations.back();
        for (const auto& [name, value] : last.metrics) {
            tiles.push_back(
                {"last " + name, metric_value(name, value), last.split + ", step " + grouped(last.step)});
        }
    }
    std::vector<double> losses;
    for (auto step = run.metrics.steps.rbegin(); step != run.metrics.steps.rend() && losses.size() < 50;
         ++step) {
        losses.push_back(step->loss);
    }
    if (!losses.empty()) {
        tiles.push_back({"training loss", significant(median(losses)),
                         "median of last " + std::to_string(losses.size())});
    }
}

std::vector<Tile> tiles_of(const RunView& run) {
    std::vector<Tile> tiles;
    add_quality_tiles(tiles, run);
    if (run.metrics.steps.empty()) {
        return tiles;
    }
    const StepRecord& last = run.metrics.steps.back();
    const std::size_t restarts = run.record ? run.record->restarts.size() : 0;
    tiles.push_back({"time", human(Seconds(last.time_s)),
                     restarts == 0   ? "no restart"
                     : restarts == 1 ? "1 restart"
                                     : std::to_string(restarts) + " restarts"});
    tiles.push_back(
        {"steps", grouped(last.step),
         scaled(static_cast<double>(last.samples)) + " samples, epoch " + std::to_string(last.epoch + 1)});
    if (const double rate = median_rate(run.metrics); std::isfinite(rate)) {
        tiles.push_back({"samples/s", scaled(rate), "median"});
    }
    const std::size_t hosts = run.record ? run.record->hosts.size() : 0;
    const auto [fewest, most] = std::ranges::minmax(run.metrics.steps, {}, &StepRecord::world_size);
    std::string about = hosts > 0 ? "on " + std::to_string(hosts) + (hosts == 1 ? " node" : " nodes") : "";
    if (fewest.world_size != most.world_size) {
        about = std::to_string(fewest.world_size) + " to " + std::to_string(most.world_size) +
                (about.empty() ? "" : ", " + about);
    }
    tiles.push_back({"ranks", std::to_string(last.world_size), about});
    if (const double share = exposed_share(run.metrics.steps); std::isfinite(share)) {
        tiles.push_back({"communication", percent(share), "of the step, exposed"});
    }
    return tiles;
}

HtmlTable phase_table(const std::vector<Phase>& phases) {
    HtmlTable table{{"phase", "mean ms", "median ms", "95 % below ms", "share"}, {}, {1, 2, 3, 4}};
    double total = 0;
    for (const Phase& phase : phases) {
        total += mean(phase.ms);
    }
    for (const Phase& phase : phases) {
        table.rows.push_back({phase.name, fixed(mean(phase.ms), 2), fixed(median(phase.ms), 2),
                              fixed(quantile(phase.ms, 0.95), 2), percent(mean(phase.ms) / total)});
    }
    return table;
}

HtmlTable facts_of(const RunView& run) {
    HtmlTable table;
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) {
            table.rows.push_back({name, value});
        }
    };
    add("directory", run.directory.string());
    if (run.record) {
        const RunRecord& record = *run.record;
        add("command", joined(record.command_line, " "));
        add("hosts", joined(record.hosts, ", "));
        add("job", record.attempt.job_id);
        add("started", to_string(record.attempt.started));
        add("ended", record.attempt.ended ? to_string(*record.attempt.ended) : "");
        add("exit", record.attempt.exit_code
                        ? std::to_string(*record.attempt.exit_code) + " (" + record.attempt.exit_name + ")"
                        : "");
        add("reason", record.attempt.reason);
        add("checkpoints", joined(record.checkpoints, ", "));
        for (const auto& [name, version] : record.libraries) {
            table.rows.push_back({name, version});
        }
    }
    add("lock", run.owner);
    return table;
}

HtmlTable starts_of(const RunRecord& record) {
    HtmlTable table{{"started", "ended", "exit", "reason", "job", "last step", "ranks"}, {}, {5, 6}};
    auto attempts = record.restarts;
    attempts.push_back(record.attempt);
    for (const RunAttempt& attempt : attempts) {
        table.rows.push_back(
            {to_string(attempt.started), attempt.ended ? to_string(*attempt.ended) : "-",
             attempt.exit_code ? std::to_string(*attempt.exit_code) + " " + attempt.exit_name : "-",
             attempt.reason, attempt.job_id, grouped(attempt.last_step), std::to_string(attempt.world_size)});
    }
    return table;
}

HtmlTable events_of(const std::vector<EventRecord>& events) {
    HtmlTable table{{"step", "after", "event", "what", "numbers"}, {}, {0}};
    const std::size_t first = events.size() > events_shown ? events.size() - events_shown : 0;
    for (std::size_t i = first; i < events.size(); ++i) {
        std::vector<std::string> numbers;
        for (const auto& [name, value] : events[i].numbers) {
            numbers.push_back(name + " " + significant(value));
        }
        table.rows.push_back({grouped(events[i].step), human(Seconds(events[i].time_s)), events[i].kind,
                              events[i].text, joined(numbers, ", ")});
    }
    return table;
}

void add_config(HtmlPage& page, const std::string& text) {
    const auto lines = config_listing(text);
    if (!lines) {
        page.details("Configuration", text);
        return;
    }
    HtmlTable table{{"option", "value", "from"}, {}, {}};
    for (const ConfigLine& line : *lines) {
        table.rows.push_back({line.key, line.value, line.comment});
    }
    if (!table.rows.empty()) {
        page.details("Configuration (" + std::to_string(table.rows.size()) + " options)", table);
    }
}

void add_plots(HtmlPage& page, const Metrics& metrics) {
    std::vector<Svg> learning{to_svg(loss_plot(metrics))};
    std::vector<Svg> system;
    for (const LinePlot& plot : quality_plots(metrics)) {
        learning.push_back(to_svg(plot));
    }
    for (const LinePlot& plot : system_plots(metrics)) {
        // Beside the quality metrics, if there are any.
        (plot.title == "Learning rate" && learning.size() > 1 ? learning : system).push_back(to_svg(plot));
    }
    const auto phases = phases_of(metrics.steps);
    // Keeps the grid of two columns full.
    if (system.size() % 2 == 1 && !phases.empty()) {
        system.push_back(to_svg(phase_chart(metrics)));
    }
    page.section("Learning");
    page.plots(learning);
    if (!system.empty()) {
        page.section("Speed");
        page.plots(system);
    }
    if (!phases.empty()) {
        page.table(phase_table(phases));
    }
}

}  // namespace

std::string training_report(const RunView& run, const std::string& resolved_config) {
    std::string name = run.directory.filename().string();
    name = name.empty() ? run.directory.string() : name;
    std::string subtitle = run.record ? run.record->program + " " + run.record->version + ", started " +
                                            to_string(run.record->attempt.started)
                                      : "no run.json: the run did not get far, or another program wrote it";
    HtmlPage page(name, subtitle + ", report of " + to_string(run.now));
    const RunState state = state_of(run);
    page.badge(to_string(state), tone_of(state));
    page.tiles(tiles_of(run));
    const auto code = run.record ? run.record->attempt.exit_code : std::nullopt;
    const std::string reason = run.record && state != RunState::running ? run.record->attempt.reason : "";
    if (state != RunState::finished) {
        page.note((reason.empty() ? "" : reason + ". ") + "What to do: " + next_action(state, code) + ".",
                  tone_of(state));
    }
    add_plots(page, run.metrics);
    page.section("Run");
    page.table(facts_of(run));
    if (run.record && !run.record->restarts.empty()) {
        page.details("Starts (" + std::to_string(run.record->restarts.size() + 1) + ")",
                     starts_of(*run.record));
    }
    if (!run.metrics.events.empty()) {
        page.details("Events (" + std::to_string(run.metrics.events.size()) +
                         (run.metrics.events.size() > events_shown ? ", the last 200 shown)" : ")"),
                     events_of(run.metrics.events));
    }
    add_config(page, resolved_config);
    if (run.metrics.damaged_lines > 0) {
        page.note(std::to_string(run.metrics.damaged_lines) + " damaged lines of metrics.jsonl were skipped.",
                  Tone::warning);
    }
    return page.str();
}

}  // namespace mastic::report
