#include <mastic/schedule/probe.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/schedule/value_table.hpp>

namespace mastic::schedule {
namespace {

constexpr double known_well_enough = 0.03;

// n^shift times the curve.
ThroughputCurve bent(const ThroughputCurve& curve, double shift) {
    ThroughputCurve result = curve;
    for (int n = 1; n <= result.largest(); ++n) {
        result.rate[static_cast<std::size_t>(n)] *= std::pow(n, shift);
    }
    return result;
}

double value_of(std::span<const JobValues> values, const std::vector<int>& nodes) {
    double sum = 0;
    for (std::size_t j = 0; j < values.size(); ++j) {
        sum += values[j].value[static_cast<std::size_t>(nodes[j])];
    }
    return sum;
}

// What re-allocating gains if the curve is so.
double gain_if(const ProbeQuestion& question, const ThroughputCurve& curve) {
    std::vector<JobValues> values(question.values.begin(), question.values.end());
    values[question.job] = value_table(question.situation.jobs[question.job], curve, question.situation.now_s,
                                       question.horizon_s, question.costs);
    return allocate(values, question.situation.nodes()).value - value_of(values, question.allocation.nodes);
}

// The loss within the horizon, scaled to the time until the measurement is done.
double cost_of(const ProbeQuestion& question) {
    std::vector<JobValues> values(question.values.begin(), question.values.end());
    std::vector<double>& own = values[question.job].value;
    const double forced = own[static_cast<std::size_t>(question.nodes)];
    const double lowest = -1e6 * (1 + std::abs(forced));
    for (std::size_t n = 0; n < own.size(); ++n) {
        if (own[n] != not_allowed && n != static_cast<std::size_t>(question.nodes)) {
            own[n] = lowest;
        }
    }
    const double with = allocate(values, question.situation.nodes()).value;
    const bool grows = question.nodes > question.values[question.job].current;
    const double needed = question.measure_s + (grows ? question.costs.start_s : question.costs.shrink_s);
    const double lost =
        std::max(0.0, question.allocation.value - with) * std::min(1.0, needed / question.horizon_s);
    // Afterwards the nodes that moved move back: they start again, and the job stands still once more.
    const double rate_per_node = forced / question.horizon_s / question.nodes;
    const int moved = std::abs(question.nodes - question.allocation.nodes[question.job]);
    const double pause = question.costs.live ? question.costs.shrink_s : question.costs.start_s;
    return lost + (moved * question.costs.start_s + question.nodes * pause) * rate_per_node;
}

}  // namespace

ProbeEstimate estimate_probe(const ProbeQuestion& question, const JobProfile& profile) {
    const ThroughputCurve& believed = profile.speed_up();
    const double shift = profile.relative_error(question.nodes) / std::log(std::max(2, question.nodes));
    const double gain =
        (gain_if(question, bent(believed, shift)) + gain_if(question, bent(believed, -shift))) / 2;
    return {gain * question.remaining_s / question.horizon_s, cost_of(question)};
}

std::vector<int> probe_sizes(const JobState& job, const JobProfile& profile, int nodes) {
    std::vector<int> sizes;
    for (int size = job.most; size >= std::max(1, job.least); size /= 2) {
        const bool unknown = profile.relative_error(size) > known_well_enough;
        if (size <= nodes && size != job.nodes.held() && unknown) {
            sizes.push_back(size);
        }
    }
    return sizes;
}

}  // namespace mastic::schedule
