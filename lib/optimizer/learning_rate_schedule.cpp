#include <mastic/optimizer/learning_rate_schedule.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::optimizer {

namespace {

constexpr ScheduleKind all_kinds[] = {ScheduleKind::constant, ScheduleKind::step, ScheduleKind::cosine,
                                      ScheduleKind::linear};

void require(bool holds, const std::string& rule) {
    if (!holds) {
        throw Error(ExitCode::usage, rule);
    }
}

bool falls_until_total(ScheduleKind kind) {
    return kind == ScheduleKind::cosine || kind == ScheduleKind::linear;
}

}  // namespace

const char* to_string(ScheduleKind kind) {
    switch (kind) {
        case ScheduleKind::constant:
            return "constant";
        case ScheduleKind::step:
            return "step";
        case ScheduleKind::cosine:
            return "cosine";
        case ScheduleKind::linear:
            return "linear";
    }
    return "unknown";
}

ScheduleKind parse_schedule_kind(std::string_view name) {
    std::vector<std::string> names;
    for (const ScheduleKind kind : all_kinds) {
        if (name == to_string(kind)) {
            return kind;
        }
        names.emplace_back(to_string(kind));
    }
    const std::string nearest = nearest_word(name, names);
    throw Error(ExitCode::usage, "there is no learning-rate schedule '" + std::string(name) + "'",
                (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") +
                    std::string("known schedules: constant, step, cosine, linear"));
}

LearningRateSchedule::LearningRateSchedule(ScheduleOptions options) : options_(std::move(options)) {
    require(std::isfinite(options_.base) && options_.base >= 0.0,
            "optimizer.learning_rate must be a number that is not negative");
    require(options_.warmup_start >= 0.0 && options_.warmup_start <= 1.0,
            "the start of the warm-up must lie between 0 and 1");
    require(std::is_sorted(options_.decay_points.begin(), options_.decay_points.end()),
            "schedule.milestones must ascend");
    require(options_.kind == ScheduleKind::step || options_.decay_points.empty(),
            "schedule.milestones need schedule.kind step");
    require(options_.kind != ScheduleKind::step || !options_.decay_points.empty(),
            "schedule.kind step needs schedule.milestones");
    require(options_.decay_factor > 0.0 && options_.decay_factor <= 1.0,
            "schedule.factor must lie above 0 and at most 1");
    require(options_.final_rate >= 0.0, "schedule.final_fraction must not be negative");
    require(!falls_until_total(options_.kind) || options_.total > options_.warmup,
            std::string("schedule.kind ") + to_string(options_.kind) + " needs a training longer than the warm-up");
}

double LearningRateSchedule::rate(std::uint64_t samples_seen) const {
    const double rate = rate_after_warmup(samples_seen);
    if (samples_seen >= options_.warmup) {
        return rate;
    }
    const double done = static_cast<double>(samples_seen) / static_cast<double>(options_.warmup);
    return rate * (options_.warmup_start + (1.0 - options_.warmup_start) * done);
}

double LearningRateSchedule::rate_after_warmup(std::uint64_t samples_seen) const {
    if (options_.kind == ScheduleKind::step) {
        const auto passed =
            std::upper_bound(options_.decay_points.begin(), options_.decay_points.end(), samples_seen) -
            options_.decay_points.begin();
        return options_.base * std::pow(options_.decay_factor, static_cast<double>(passed));
    }
    if (!falls_until_total(options_.kind) || samples_seen <= options_.warmup) {
        return options_.base;
    }
    if (samples_seen >= options_.total) {
        return options_.final_rate;
    }
    const double done = static_cast<double>(samples_seen - options_.warmup) /
                        static_cast<double>(options_.total - options_.warmup);
    const double left =
        options_.kind == ScheduleKind::cosine ? 0.5 * (1.0 + std::cos(std::numbers::pi * done)) : 1.0 - done;
    return options_.final_rate + (options_.base - options_.final_rate) * left;
}

std::string LearningRateSchedule::description() const {
    std::ostringstream text;
    text << options_.base;
    if (options_.warmup > 0) {
        text << ", linear warm-up over " << options_.warmup << " samples";
    }
    text << ", " << to_string(options_.kind);
    if (options_.kind == ScheduleKind::step) {
        text << ": times " << options_.decay_factor << " at";
        for (const std::uint64_t point : options_.decay_points) {
            text << " " << point;
        }
        text << " samples";
    } else if (falls_until_total(options_.kind)) {
        text << " to " << options_.final_rate << " at " << options_.total << " samples";
    }
    return text.str();
}

}  // namespace mastic::optimizer
