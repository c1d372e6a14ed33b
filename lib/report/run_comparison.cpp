#include <mastic/report/run_comparison.hpp>

#include <cmath>
#include <set>

#include <mastic/core/duration.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/report/text_table.hpp>

namespace mastic::report {
namespace {

const std::string unknown = "-";

std::string number(double value) {
    return std::isfinite(value) ? significant(value) : unknown;
}

// Final values: run.json's, else those of the last evaluation.
std::map<std::string, double> final_metrics(const RunView& run) {
    if (run.record && !run.record->final_metrics.empty()) {
        return run.record->final_metrics;
    }
    if (run.metrics.evaluations.empty()) {
        return {};
    }
    auto values = run.metrics.evaluations.back().metrics;
    values["loss"] = run.metrics.evaluations.back().loss;
    return values;
}

std::string found(const std::map<std::string, double>& values, const std::string& name) {
    const auto at = values.find(name);
    return at == values.end() || !std::isfinite(at->second) ? unknown : metric_value(name, at->second);
}

std::vector<std::string> metric_names(const std::vector<ComparedRun>& runs) {
    std::set<std::string> names;
    for (const ComparedRun& compared : runs) {
        for (const auto& [name, value] : final_metrics(compared.run)) {
            if (name != "loss") {
                names.insert(name);
            }
        }
    }
    return {names.begin(), names.end()};
}

std::string best_text(const RunView& run) {
    if (!run.record || !run.record->best) {
        return unknown;
    }
    const BestMetric& best = *run.record->best;
    return metric_value(best.name, best.value) + " " + best.name + " @ " + grouped(best.step);
}

std::vector<std::string> run_row(const ComparedRun& compared, const std::vector<std::string>& names) {
    const RunView& run = compared.run;
    const auto values = final_metrics(run);
    std::vector<std::string> row{compared.name, to_string(state_of(run))};
    for (const std::string& name : names) {
        row.push_back(found(values, name));
    }
    row.push_back(best_text(run));
    row.push_back(found(values, "loss"));
    if (run.metrics.steps.empty()) {
        row.insert(row.end(), {unknown, unknown, unknown, unknown, unknown});
        return row;
    }
    const StepRecord& last = run.metrics.steps.back();
    const double rate = median_rate(run.metrics);
    row.push_back(number(last.loss));
    row.push_back(grouped(last.step));
    row.push_back(human(Seconds(last.time_s)));
    row.push_back(std::isfinite(rate) ? scaled(rate) : unknown);
    row.push_back(std::to_string(last.world_size));
    return row;
}

TextTable changed_keys(const std::vector<ComparedRun>& runs) {
    std::set<std::string> keys;
    TextTable table{{"changed option"}, {}};
    for (const ComparedRun& compared : runs) {
        table.header.push_back(compared.name);
        for (const auto& [key, value] : compared.config) {
            keys.insert(key);
        }
    }
    for (const std::string& key : keys) {
        std::vector<std::string> row{key};
        std::set<std::string> values;
        for (const ComparedRun& compared : runs) {
            const auto at = compared.config.find(key);
            row.push_back(at == compared.config.end() ? unknown : at->second);
            values.insert(row.back());
        }
        if (values.size() > 1) {
            table.rows.push_back(row);
        }
    }
    return table;
}

}  // namespace

std::string compare_table(const std::vector<ComparedRun>& runs) {
    const auto names = metric_names(runs);
    TextTable table{{"run", "state"}, {}};
    table.header.insert(table.header.end(), names.begin(), names.end());
    table.header.insert(table.header.end(),
                        {"best", "loss", "train loss", "steps", "time", "samples/s", "ranks"});
    for (const ComparedRun& compared : runs) {
        table.rows.push_back(run_row(compared, names));
    }
    std::string text = to_text(table);
    if (const TextTable changed = changed_keys(runs); !changed.rows.empty()) {
        text += "\n" + to_text(changed);
    } else if (runs.size() > 1) {
        text += "\nno option differs\n";
    }
    return text;
}

}  // namespace mastic::report
