#include <mastic/schedule/manager/sweep.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mastic/core/error.hpp>
#include <mastic/report/number_format.hpp>
#include <mastic/schedule/log_text.hpp>

namespace mastic::schedule {
namespace {

struct Rung {
    std::int64_t samples = 0;
    std::size_t survivors = 0;
};

bool takes_part(const TrialView& trial) {
    return trial.state != TrainingState::failed && trial.state != TrainingState::stopped &&
           trial.state != TrainingState::stopping;
}

// The first rung that leaves fewer than take part now; none: enough are gone, or it is not known where it lies.
std::optional<Rung> next_rung(const std::vector<TrialView>& trials, std::size_t keep_best) {
    const auto left = static_cast<std::size_t>(std::ranges::count_if(trials, takes_part));
    std::int64_t planned = std::numeric_limits<std::int64_t>::max();
    for (const TrialView& trial : trials) {
        if (takes_part(trial) && trial.planned_samples > 0) {  // one that has not started is no reason to let the others run on
            planned = std::min(planned, trial.planned_samples);
        }
    }
    if (left <= keep_best || planned == std::numeric_limits<std::int64_t>::max()) {
        return std::nullopt;
    }
    const std::size_t all = trials.size();
    int rungs = 0;
    while ((keep_best << rungs) < all) {
        ++rungs;
    }
    for (int i = 1; i <= rungs; ++i) {
        const std::size_t part = std::size_t{1} << i;
        const std::size_t survivors = std::max(keep_best, (all + part - 1) / part);
        if (survivors < left) {
            return Rung{std::max<std::int64_t>(1, planned >> (rungs + 1 - i)), survivors};
        }
    }
    return std::nullopt;
}

bool reached(const TrialView& trial, const Rung& rung) {
    return trial.state == TrainingState::done || trial.samples >= rung.samples;
}

struct Candidate {
    std::size_t index;
    std::optional<Score> score;
};

// Best first; equals keep the order of the file. What cannot be judged counts as worst.
std::vector<Candidate> ranked(const std::vector<TrialView>& trials, const Rung& rung) {
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        if (takes_part(trials[i])) {
            candidates.push_back({i, score_at(trials[i].metrics(), rung.samples)});
        }
    }
    std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
        return a.score && (!b.score || a.score->better_than(*b.score));
    });
    return candidates;
}

std::string described(const std::optional<Score>& score) {
    return score ? score->metric + " " + report::metric_value(score->metric, score->value)
                 : "nothing to judge by";
}

}  // namespace

std::vector<Trial> parse_sweep(std::string_view text, const std::string& name) {
    std::vector<Trial> trials;
    LineReader reader(text);
    for (std::string_view line; reader.read(line);) {
        if (line.empty() || line.starts_with('#')) {
            continue;
        }
        Trial trial{reader.number(), {}};
        for (const std::string_view word : words(line)) {
            if (word.starts_with("--run.dir") || word.starts_with("--elastic.join")) {
                throw Error(ExitCode::usage,
                            name + ":" + std::to_string(trial.line) + ": " + std::string(word) +
                                ": each trial gets a run directory of its own",
                            "take it away; --training.run_dir says where they are");
            }
            trial.arguments.emplace_back(word);
        }
        trials.push_back(std::move(trial));
    }
    if (trials.empty()) {
        throw Error(ExitCode::usage, name + " has no trial",
                    "write options of mastic-train into each line, such as: --optimizer.learning_rate 0.1");
    }
    return trials;
}

std::vector<TrainingOrder> sweep_orders(const TrainingOrder& base, const std::vector<Trial>& trials,
                                        const std::string& sweep, int keep_best) {
    std::vector<TrainingOrder> orders;
    for (const Trial& trial : trials) {
        TrainingOrder order = base;
        const std::string number = std::to_string(trial.line);
        order.name = sweep + "-" + number;
        order.run_directory =
            (base.run_directory.empty() ? "runs/" + sweep : base.run_directory) + "/" + number;
        order.arguments.insert(order.arguments.end(), trial.arguments.begin(), trial.arguments.end());
        order.sweep = sweep;
        order.keep_best = keep_best;
        orders.push_back(std::move(order));
    }
    return orders;
}

bool Score::better_than(const Score& other) const {
    if (!std::isfinite(value) || !std::isfinite(other.value)) {
        return std::isfinite(value) && !std::isfinite(other.value);
    }
    return report::is_share(metric) ? value > other.value : value < other.value;
}

std::optional<Score> score_at(const report::Metrics& metrics, std::int64_t samples) {
    const report::EvaluationRecord* newest = nullptr;
    for (const report::EvaluationRecord& evaluation : metrics.evaluations) {
        if (evaluation.samples <= samples) {
            newest = &evaluation;
        }
    }
    if (newest != nullptr) {
        const auto accuracy = newest->metrics.find("accuracy");
        return accuracy != newest->metrics.end() ? Score{"accuracy", accuracy->second}
                                                 : Score{"loss", newest->loss};
    }
    double sum = 0;
    int count = 0;
    for (const report::StepRecord& step : metrics.steps) {
        if (step.samples <= samples && step.samples > samples - samples / 4) {
            sum += step.loss;
            ++count;
        }
    }
    return count > 0 ? std::optional(Score{"loss", sum / count}) : std::nullopt;
}

std::vector<Verdict> judge_sweep(const std::vector<TrialView>& trials, int keep_best) {
    std::vector<Verdict> verdicts(trials.size());
    const auto rung = keep_best > 0 ? next_rung(trials, static_cast<std::size_t>(keep_best)) : std::nullopt;
    if (!rung) {
        return verdicts;
    }
    const std::string at = " at " + report::grouped(rung->samples) + " samples";
    const bool all_there = std::ranges::all_of(
        trials, [&](const TrialView& trial) { return !takes_part(trial) || reached(trial, *rung); });
    if (!all_there) {
        for (std::size_t i = 0; i < trials.size(); ++i) {
            if (takes_part(trials[i]) && reached(trials[i], *rung)) {
                verdicts[i] = {Verdict::Kind::wait, "waits for the other trials" + at};
            }
        }
        return verdicts;
    }
    const std::vector<Candidate> best = ranked(trials, *rung);
    for (std::size_t place = rung->survivors; place < best.size(); ++place) {
        verdicts[best[place].index] = {
            Verdict::Kind::stop, "place " + std::to_string(place + 1) + " of " + std::to_string(best.size()) +
                                     at + ": " + described(best[place].score) + ", the best has " +
                                     described(best.front().score)};
    }
    return verdicts;
}

}  // namespace mastic::schedule
