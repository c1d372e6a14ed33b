#include <mastic/report/training_plots.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <mastic/report/number_format.hpp>
#include <mastic/report/phases.hpp>
#include <mastic/report/statistics.hpp>

namespace mastic::report {
namespace {

constexpr std::size_t smooth_from = 30;  // shorter series are shown as they are
constexpr std::size_t phase_groups = 150;
constexpr int training_colour = 0;
constexpr int wide = 1144;

template <class Member>
std::vector<double> column(const std::vector<StepRecord>& steps, Member member) {
    std::vector<double> values;
    values.reserve(steps.size());
    for (const StepRecord& step : steps) {
        values.push_back(static_cast<double>(step.*member));
    }
    return values;
}

bool measured(const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

bool changes(const std::vector<double>& values) {
    return !values.empty() &&
           std::any_of(values.begin(), values.end(), [&](double v) { return v != values[0]; });
}

// Raw in the background, smoothed in front.
void add_smoothed(LinePlot& plot, const std::string& name, std::vector<double> x, std::vector<double> y,
                  int colour) {
    if (y.size() < smooth_from) {
        plot.series.push_back({name, std::move(x), std::move(y), Mark::line, colour});
        return;
    }
    std::vector<double> smooth = smoothed(y, static_cast<double>(y.size()) / 200);
    const std::string prefix = name.empty() ? "" : name + ", ";
    plot.series.push_back({prefix + "each step", x, std::move(y), Mark::line, colour, true});
    plot.series.push_back({prefix + "smoothed", std::move(x), std::move(smooth), Mark::line, colour});
}

std::vector<EventMark> event_marks(const Metrics& metrics) {
    std::vector<EventMark> marks;
    for (const EventRecord& event : metrics.events) {
        if (event.kind == "start" || event.kind == "stop") {
            continue;
        }
        std::string tooltip = event.kind + " at step " + grouped(event.step);
        tooltip += event.text.empty() ? "" : ": " + event.text;
        marks.push_back(
            {static_cast<double>(event.step), event.kind, std::move(tooltip), event.kind != "checkpoint"});
    }
    std::stable_sort(marks.begin(), marks.end(),
                     [](const EventMark& a, const EventMark& b) { return a.x < b.x; });
    return marks;
}

// The same for all plots, so that they can be read one above the other.
void set_step_range(Axis& axis, const Metrics& metrics) {
    std::vector<double> ends;
    if (!metrics.steps.empty()) {
        ends = {static_cast<double>(metrics.steps.front().step),
                static_cast<double>(metrics.steps.back().step)};
    }
    if (!metrics.evaluations.empty()) {
        ends.push_back(static_cast<double>(metrics.evaluations.front().step));
        ends.push_back(static_cast<double>(metrics.evaluations.back().step));
    }
    const Range range = range_of({ends}, Scale::linear);
    axis.low = range.low < 0.06 * range.high ? 0 : range.low;
    axis.high = range.high;
}

LinePlot plot_over_steps(const Metrics& metrics, std::string title, std::string y_label,
                         bool show_checkpoints) {
    LinePlot plot;
    plot.title = std::move(title);
    plot.x.label = "step";
    plot.x.whole = true;
    set_step_range(plot.x, metrics);
    plot.y.label = std::move(y_label);
    plot.events = event_marks(metrics);
    if (!show_checkpoints) {
        std::erase_if(plot.events, [](const EventMark& event) { return !event.line; });
    }
    return plot;
}

// A split keeps its colour in all plots; the training has the first.
std::vector<std::string> splits_of(const Metrics& metrics) {
    std::set<std::string> names;
    for (const EvaluationRecord& evaluation : metrics.evaluations) {
        names.insert(evaluation.split);
    }
    return {names.rbegin(), names.rend()};  // "validation" before "test"
}

template <class Value>
void add_splits(LinePlot& plot, const Metrics& metrics, Value&& value) {
    int colour = training_colour;
    for (const std::string& split : splits_of(metrics)) {
        Series series{split, {}, {}, Mark::line, ++colour};
        for (const EvaluationRecord& evaluation : metrics.evaluations) {
            if (const double y = value(evaluation); evaluation.split == split && std::isfinite(y)) {
                series.x.push_back(static_cast<double>(evaluation.step));
                series.y.push_back(y);
            }
        }
        if (!series.x.empty()) {
            plot.series.push_back(std::move(series));
        }
    }
}

LinePlot phase_plot(const Metrics& metrics, const std::vector<Phase>& phases) {
    LinePlot plot = plot_over_steps(metrics, "Time per step", "ms, mean", false);
    const auto x = group_means(column(metrics.steps, &StepRecord::step), phase_groups);
    std::vector<double> totals(x.size(), 0);
    for (const Phase& phase : phases) {
        plot.series.push_back({phase.name, x, group_means(phase.ms, phase_groups), Mark::area});
        for (std::size_t i = 0; i < totals.size(); ++i) {
            totals[i] += std::isfinite(plot.series.back().y[i]) ? plot.series.back().y[i] : 0;
        }
    }
    // A slow start (caches, first touch) must not flatten all the rest.
    const double usual = quantile(totals, 0.75) * 1.5;
    const double highest = *std::max_element(totals.begin(), totals.end());
    if (highest > 1.5 * usual) {
        plot.y.high = usual;
        plot.y.label += "; up to " + significant(highest, 3) + " cut off";
    }
    return plot;
}

}  // namespace

LinePlot loss_plot(const Metrics& metrics) {
    LinePlot plot = plot_over_steps(metrics, "Loss", "", true);
    plot.width = wide;
    plot.height = 340;
    add_smoothed(plot, "training", column(metrics.steps, &StepRecord::step),
                 column(metrics.steps, &StepRecord::loss), training_colour);
    const Range range = range_of({plot.series.back().y}, Scale::linear);
    if (range.low > 0 && range.high > 30 * range.low) {
        plot.y.scale = Scale::logarithmic;
    }
    add_splits(plot, metrics, [](const EvaluationRecord& evaluation) { return evaluation.loss; });
    return plot;
}

std::vector<LinePlot> quality_plots(const Metrics& metrics) {
    std::set<std::string> names;
    for (const EvaluationRecord& evaluation : metrics.evaluations) {
        for (const auto& [name, value] : evaluation.metrics) {
            names.insert(name);
        }
    }
    std::vector<LinePlot> plots;
    for (const std::string& name : names) {
        LinePlot plot = plot_over_steps(metrics, name, is_share(name) ? "%" : "", false);
        const double factor = is_share(name) ? 100 : 1;
        add_splits(plot, metrics, [&](const EvaluationRecord& evaluation) {
            const auto at = evaluation.metrics.find(name);
            return at == evaluation.metrics.end() ? not_a_number : at->second * factor;
        });
        plot.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(plot.title[0])));
        plots.push_back(std::move(plot));
    }
    return plots;
}

BarChart phase_chart(const Metrics& metrics) {
    BarChart chart{"Mean step", "ms", {"mean"}, {}};
    for (const Phase& phase : phases_of(metrics.steps)) {
        chart.bars.push_back({phase.name, {mean(phase.ms)}});
    }
    return chart;
}

std::vector<LinePlot> system_plots(const Metrics& metrics) {
    std::vector<LinePlot> plots;
    const auto steps = column(metrics.steps, &StepRecord::step);
    const auto add = [&](const char* title, const char* unit, std::vector<double> y, bool smooth) {
        if (!measured(y)) {
            return;
        }
        LinePlot plot = plot_over_steps(metrics, title, unit, smooth);
        plot.y.low = 0;
        if (smooth) {
            add_smoothed(plot, "", steps, std::move(y), training_colour);
        } else {
            plot.series.push_back({"", steps, std::move(y), Mark::step, training_colour});
        }
        plots.push_back(std::move(plot));
    };
    add("Throughput", "samples/s", column(metrics.steps, &StepRecord::samples_per_s), true);
    if (const auto phases = phases_of(metrics.steps); !phases.empty() && metrics.steps.size() > 1) {
        plots.push_back(phase_plot(metrics, phases));
    }
    add("Exposed communication", "ms", column(metrics.steps, &StepRecord::exposed_communication_ms), true);
    add("Learning rate", "", column(metrics.steps, &StepRecord::learning_rate), false);
    const auto ranks = column(metrics.steps, &StepRecord::world_size);
    if (changes(ranks)) {
        add("Ranks", "", ranks, false);
        plots.back().y.whole = true;
        std::erase_if(plots.back().events, [](const EventMark& event) { return event.label == "resize"; });  // the curve shows it
    }
    const auto batches = column(metrics.steps, &StepRecord::global_batch);
    if (changes(batches)) {
        add("Global batch", "samples", batches, false);
        plots.back().y.whole = true;
    }
    return plots;
}

}  // namespace mastic::report
