#include <mastic/schedule/manager/state_view.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/core/duration.hpp>
#include <mastic/job/host_list.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/report/text_table.hpp>
#include <mastic/schedule/manager/detail/json_fields.hpp>

namespace mastic::schedule {
namespace {

constexpr std::size_t shown_ended = 10;
constexpr int bar_length = 10;
constexpr double late_s = 60;  // a round may take that long

// Full seconds: "4 s", "2 min 05 s".
std::string span(double seconds) {
    const double whole = std::max(0.0, std::round(seconds));
    return whole < 60 ? report::fixed(whole, 0) + " s" : human(Seconds(whole));
}

std::string ago(const StateView& view, double time_s) {
    return time_s > 0 ? span(view.now_s - time_s) : "-";
}

std::int64_t planned_samples(const Training& training) {
    return training.order.total_samples > 0 ? training.order.total_samples : training.record.planned_samples;
}

std::optional<double> share_done(const Training& training) {
    const std::int64_t planned = planned_samples(training);
    if (planned <= 0) {
        return std::nullopt;
    }
    return std::min(1.0, static_cast<double>(training.record.samples) / static_cast<double>(planned));
}

std::optional<double> seconds_left(const Training& training) {
    const TrainingRecord& record = training.record;
    if (!share_done(training) || has_ended(record.state) || !(record.samples_per_s > 0) ||
        record.pilots.empty()) {
        return std::nullopt;
    }
    return static_cast<double>(std::max<std::int64_t>(0, planned_samples(training) - record.samples)) /
           record.samples_per_s;
}

std::string progress_text(const Training& training) {
    const auto done = share_done(training);
    if (!done) {
        return training.record.samples > 0
                   ? report::scaled(static_cast<double>(training.record.samples)) + " samples"
                   : "-";
    }
    const int filled = static_cast<int>(*done * bar_length);
    return std::string(static_cast<std::size_t>(filled), '#') +
           std::string(static_cast<std::size_t>(bar_length - filled), '.') + " " + report::percent(*done);
}

std::string nodes_of(const TrainingRecord& record) {
    std::vector<std::string> nodes;
    std::size_t nowhere = 0;
    for (const PilotRecord& pilot : record.pilots) {
        if (pilot.node.empty()) {
            ++nowhere;
        } else {
            nodes.push_back(pilot.node);
        }
    }
    std::ranges::sort(nodes, {}, [](const std::string& node) { return std::pair(node.size(), node); });
    std::string text = nodes.empty() ? "" : job::compress_host_list(nodes);
    if (nowhere > 0) {
        text += (text.empty() ? "" : " + ") + std::to_string(nowhere) + " pending";
    }
    return text.empty() ? "-" : text;
}

std::string limits_of(const TrainingOrder& order) {
    return std::to_string(order.least) + ".." + std::to_string(order.most);
}

// Why it has the nodes that it has, or why it has ended.
std::string why(const Training& training) {
    const TrainingRecord& record = training.record;
    if (!training.problem.empty()) {
        return training.problem;
    }
    if (!has_ended(record.state) && !record.target_reason.empty()) {
        return record.target_reason;
    }
    return record.reason.empty() && record.state == TrainingState::queued
               ? "no manager has given it nodes yet: none are free, or fewer than it needs"
               : record.reason;
}

std::vector<std::string> row_of(const StateView& view, const Training& training) {
    const TrainingRecord& record = training.record;
    if (!training.problem.empty()) {
        return {training.id, "damaged", "-", "-", "-", "-", "-", "-", training.problem};
    }
    const auto left = seconds_left(training);
    return {training.id,
            to_string(record.state),
            std::to_string(record.pilots.size()) + " of " + limits_of(training.order),
            nodes_of(record),
            ago(view, record.since_s),
            record.samples_per_s > 0 && !record.pilots.empty() ? report::scaled(record.samples_per_s) : "-",
            progress_text(training),
            left ? span(*left) : "-",
            why(training)};
}

std::string manager_text(const StateView& view) {
    const std::string last = view.round ? ", last round " + ago(view, view.round->time_s) + " ago" : "";
    if (!view.manager) {
        return "none" + last + ": nothing is started or stopped until `mastic-rescale serve " +
               view.path.string() + "`";
    }
    std::string text = job::describe(*view.manager) + last;
    if (!view.round) {
        return text + ", its first round is not over";
    }
    const double due_s = view.round->next_s - view.now_s;
    if (due_s < -late_s) {
        return text + ": LATE by " + span(-due_s) + ", look at its log";
    }
    return text + ", next " + (due_s > 0 ? "in " + span(due_s) : "now");
}

std::string drained_text(const DrainedNodes& drained) {
    if (drained.all) {
        return "all are drained";
    }
    const std::vector<std::string> nodes(drained.nodes.begin(), drained.nodes.end());
    return std::to_string(nodes.size()) + " drained: " + job::compress_host_list(nodes);
}

std::string nodes_text(const StateView& view) {
    std::size_t ours = 0;
    for (const Training& training : view.trainings) {
        ours += static_cast<std::size_t>(std::ranges::count_if(
            training.record.pilots, [](const PilotRecord& pilot) { return pilot.state != "pending"; }));
    }
    std::string text = std::to_string(ours) + " filled";
    if (view.round) {
        const int spare = view.round->spare;
        text += ", " + std::to_string(view.round->idle) + " idle" +
                (spare > 0 ? " (" + std::to_string(spare) + " left to others)" : "") + ", " +
                std::to_string(view.round->nodes) + " in all";
    }
    return text + (view.drained.all || !view.drained.nodes.empty() ? ", " + drained_text(view.drained) : "");
}

std::string heading(const StateView& view) {
    report::TextTable table{{"state", view.path.string() + ", id " + view.id}, {}};
    table.rows = {{"manager", manager_text(view)}, {"nodes", nodes_text(view)}};
    if (view.round) {
        const BudgetUse& used = view.round->used;
        table.rows.push_back({"used", report::fixed(used.node_seconds / 3600, 1) + " node-hours, " +
                                          report::fixed(used.node_seconds_today / 3600, 1) +
                                          " of them today"});
        for (const std::string& what : view.round->waits_for) {
            table.rows.push_back({"waits for", what});
        }
        if (!view.round->problem.empty()) {
            table.rows.push_back({"PROBLEM", view.round->problem});
        }
    }
    for (const Inbox::Waiting& waiting : view.requests) {
        table.rows.push_back({"asked", waiting.request ? describe(*waiting.request) : waiting.problem});
    }
    return report::to_text(table);
}

Json training_json(const Training& training) {
    const TrainingOrder& order = training.order;
    const TrainingRecord& record = training.record;
    Json pilots = Json::array();
    for (const PilotRecord& pilot : record.pilots) {
        pilots.push_back(
            {{"job", pilot.job}, {"node", pilot.node}, {"state", pilot.state}, {"since_s", pilot.since_s}});
    }
    const auto left = seconds_left(training);
    return {{"id", training.id},
            {"state", to_string(record.state)},
            {"since_s", record.since_s},
            {"why", why(training)},
            {"min_nodes", order.least},
            {"max_nodes", order.most},
            {"weight", order.weight},
            {"target", record.target},
            {"pilots", std::move(pilots)},
            {"samples", record.samples},
            {"planned_samples", planned_samples(training)},
            {"samples_per_s", record.samples_per_s},
            {"left_s", left ? Json(*left) : Json()},
            {"node_seconds", record.node_seconds},
            {"run_directory", order.run_directory},
            {"sweep", order.sweep},
            {"problem", training.problem}};
}

}  // namespace

StateView view_of(const StateDirectory& state, double now_s) {
    return {state.path(),      state.id(),      state.manager(),         state.round(),
            state.trainings(), state.drained(), state.inbox().waiting(), now_s};
}

std::string status_text(const StateView& view) {
    report::TextTable table{
        {"training", "state", "nodes", "where", "since", "samples/s", "progress", "left", "why"}, {}};
    std::vector<const Training*> ended;
    for (const Training& training : view.trainings) {
        if (has_ended(training.record.state)) {
            ended.push_back(&training);
        } else {
            table.rows.push_back(row_of(view, training));
        }
    }
    std::ranges::stable_sort(ended, std::greater{}, [](const Training* one) { return one->record.since_s; });
    const std::size_t shown = std::min(ended.size(), shown_ended);
    for (std::size_t i = 0; i < shown; ++i) {
        table.rows.push_back(row_of(view, *ended[i]));
    }
    std::string text = heading(view) + "\n";
    text += table.rows.empty()
                ? "no training: `mastic-rescale submit " + view.path.string() + " my.toml` adds one\n"
                : report::to_text(table);
    if (ended.size() > shown) {
        text += std::to_string(ended.size() - shown) + " more have ended; --json lists all\n";
    }
    return text;
}

std::string training_text(const StateView& view, const Training& training) {
    const TrainingOrder& order = training.order;
    const TrainingRecord& record = training.record;
    report::TextTable table{{"training", training.id}, {}};
    table.rows = {
        {"state", std::string(to_string(record.state)) + " for " + ago(view, record.since_s) +
                      (record.reason.empty() ? "" : ": " + record.reason)},
        {"nodes", std::to_string(record.pilots.size()) + ", target " + std::to_string(record.target) +
                      " of " + limits_of(order) + ", weight " + report::significant(order.weight)},
        {"why", why(training)},
        {"progress", progress_text(training)},
        {"used", report::fixed(record.node_seconds / 3600, 2) + " node-hours"}};
    if (record.samples_per_s > 0) {
        table.rows.push_back({"speed", report::scaled(record.samples_per_s) + " samples/s on " +
                                           std::to_string(record.world_size) + " nodes"});
    }
    table.rows.push_back({"config", order.config});
    table.rows.push_back({"run", order.run_directory});
    table.rows.push_back({"in", order.directory});
    if (!order.arguments.empty()) {
        table.rows.push_back({"arguments", config::join(order.arguments, " ")});
    }
    if (!order.sweep.empty()) {
        table.rows.push_back(
            {"sweep", order.sweep + (record.metric.empty()
                                         ? ""
                                         : ", " + record.metric + " " +
                                               report::metric_value(record.metric, record.score) + " at " +
                                               report::grouped(record.scored_samples) + " samples")});
    }
    std::string text = report::to_text(table);
    if (!record.pilots.empty()) {
        report::TextTable pilots{{"pilot", "node", "state", "since"}, {}};
        for (const PilotRecord& pilot : record.pilots) {
            pilots.rows.push_back(
                {pilot.job, pilot.node.empty() ? "-" : pilot.node, pilot.state, ago(view, pilot.since_s)});
        }
        text += "\n" + report::to_text(pilots);
    }
    return text + "\nmore: mastic-train status " + order.run_directory + "\n";
}

std::string status_json(const StateView& view) {
    Json trainings = Json::array();
    for (const Training& training : view.trainings) {
        trainings.push_back(training_json(training));
    }
    Json requests = Json::array();
    for (const Inbox::Waiting& waiting : view.requests) {
        requests.push_back(waiting.request ? describe(*waiting.request) : waiting.problem);
    }
    Json document = {{"state", view.path.string()}, {"id", view.id}, {"time_s", view.now_s}};
    document["manager"] = view.manager ? Json{{"host", view.manager->host},
                                              {"pid", view.manager->pid},
                                              {"job_id", view.manager->job_id},
                                              {"since", view.manager->since}}
                                       : Json();
    document["round"] = view.round ? Json::parse(to_json(*view.round)) : Json();
    document["drained"] = {{"all", view.drained.all}, {"nodes", view.drained.nodes}};
    document["requests"] = std::move(requests);
    document["trainings"] = std::move(trainings);
    return text_of(std::move(document));
}

}  // namespace mastic::schedule
