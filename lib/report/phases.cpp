#include <mastic/report/phases.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <mastic/report/statistics.hpp>

namespace mastic::report {
namespace {

struct Column {
    const char* name;
    double StepRecord::*ms;
};
constexpr std::array<Column, 5> columns{{{"forward", &StepRecord::forward_ms},
                                         {"backward", &StepRecord::backward_ms},
                                         {"exposed communication", &StepRecord::exposed_communication_ms},
                                         {"optimizer", &StepRecord::optimizer_ms},
                                         {"checkpoint stall", &StepRecord::checkpoint_stall_ms}}};

double remainder_of(const StepRecord& step) {
    double rest = step.step_ms;
    for (const Column& column : columns) {
        rest -= std::isfinite(step.*column.ms) ? step.*column.ms : 0;
    }
    return std::isfinite(rest) ? std::max(0.0, rest) : rest;
}

}  // namespace

std::vector<Phase> phases_of(const std::vector<StepRecord>& steps) {
    std::vector<Phase> phases;
    const auto add = [&](const char* name, auto&& value) {
        Phase phase{name, {}};
        for (const StepRecord& step : steps) {
            phase.ms.push_back(value(step));
        }
        if (std::any_of(phase.ms.begin(), phase.ms.end(), [](double ms) { return std::isfinite(ms); })) {
            phases.push_back(std::move(phase));
        }
    };
    for (const Column& column : columns) {
        add(column.name, [&](const StepRecord& step) { return step.*column.ms; });
    }
    add("data and other", remainder_of);
    return phases;
}

double exposed_share(const std::vector<StepRecord>& steps) {
    double exposed = 0;
    double total = 0;
    for (const StepRecord& step : steps) {
        if (std::isfinite(step.exposed_communication_ms) && std::isfinite(step.step_ms)) {
            exposed += step.exposed_communication_ms;
            total += step.step_ms;
        }
    }
    return total > 0 ? exposed / total : not_a_number;
}

std::vector<double> group_means(const std::vector<double>& values, std::size_t count) {
    count = std::min(count, values.size());
    std::vector<double> means;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = i * values.size() / count;
        const std::size_t end = (i + 1) * values.size() / count;
        means.push_back(mean(std::span(values).subspan(begin, end - begin)));
    }
    return means;
}

}  // namespace mastic::report
