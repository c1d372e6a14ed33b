#include <mastic/tuning/race.hpp>

#include <algorithm>

#include <mastic/report/statistics.hpp>

namespace mastic::tuning {

Race::Race(std::size_t candidates, const RaceRules& rules)
    : rules_(rules), times_(candidates), running_(candidates, true) {}

void Race::add(std::span<const double> times_us) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
        if (running_[i]) {
            times_[i].push_back(times_us[i]);
        }
    }
    drop_losers();
}

std::size_t Race::running() const {
    return static_cast<std::size_t>(std::ranges::count(running_, true));
}

bool Race::is_over() const {
    const auto repetitions = static_cast<int>(times_[leader()].size());
    return repetitions >= rules_.most || (running() == 1 && repetitions >= rules_.least);
}

std::size_t Race::leader() const {
    std::size_t best = times_.size();
    double least = 0;
    for (std::size_t i = 0; i < times_.size(); ++i) {
        if (!running_[i]) {
            continue;
        }
        const double median = times_[i].empty() ? 0 : report::median(times_[i]);
        if (best == times_.size() || median < least) {
            best = i;
            least = median;
        }
    }
    return best;
}

void Race::drop_losers() {
    const std::vector<double>& best = times_[leader()];
    for (std::size_t i = 0; i < times_.size(); ++i) {
        running_[i] = running_[i] && !is_beaten(times_[i], best);
    }
}

bool Race::is_beaten(const std::vector<double>& times, const std::vector<double>& best) const {
    const auto repetitions = static_cast<int>(best.size());
    if (repetitions >= rules_.hopeless_after &&
        std::ranges::min(times) > rules_.hopeless * std::ranges::max(best)) {
        return true;
    }
    return repetitions >= rules_.clear_after && report::quantile(times, 0.25) > report::quantile(best, 0.75);
}

Timing timing_of(const std::vector<double>& times_us) {
    return {report::median(times_us), report::quantile(times_us, 0.25), report::quantile(times_us, 0.75),
            static_cast<int>(times_us.size())};
}

}  // namespace mastic::tuning
