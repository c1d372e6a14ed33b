#include "schedule/random_values.hpp"

#include <algorithm>
#include <cmath>

namespace mastic::schedule::test {
namespace {

double between(CounterRandom& random, double low, double high) {
    return low + (high - low) * random.uniform();
}

std::vector<double> random_curve(CounterRandom& random, int largest) {
    const double exponent = between(random, 0.5, 1.0);
    const bool dented = random.uniform() < 0.33;
    std::vector<double> rate = {0.0};
    for (int n = 1; n <= largest; ++n) {
        rate.push_back(std::pow(n, exponent) * (dented ? between(random, 0.85, 1.12) : 1.0));
    }
    return rate;
}

}  // namespace

std::vector<JobValues> random_values(const RandomShape& shape, std::uint64_t seed) {
    CounterRandom random(seed);
    std::vector<JobValues> jobs(static_cast<std::size_t>(shape.jobs));
    int left = shape.nodes * 8 / 10;
    const std::vector<int> least_sizes = {1, 1, 2, 4, 8};
    for (JobValues& job : jobs) {
        const int least = std::min(shape.largest, least_sizes[random.below(least_sizes.size())]);
        const int most = std::max(least, shape.largest >> random.below(3));
        const std::vector<double> rate = random_curve(random, most);
        const int wanted =
            least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
        job.current = wanted <= left ? wanted : 0;
        left -= job.current;
        const double now = rate[static_cast<std::size_t>(job.current)];
        for (int n = 0; n <= most; ++n) {
            const double cost = n > job.current ? 18 * now : n < job.current ? 12 * now : 0;
            const bool allowed = n == 0 || n >= least;
            job.value.push_back(allowed ? 120 * rate[static_cast<std::size_t>(n)] - cost : not_allowed);
        }
    }
    return jobs;
}

double best_by_enumeration(const std::vector<JobValues>& jobs, int nodes) {
    double best = not_allowed;
    const auto extend = [&](const auto& self, std::size_t job, int left, double sum) -> void {
        if (job == jobs.size()) {
            best = std::max(best, sum);
            return;
        }
        for (int n = 0; n < static_cast<int>(jobs[job].value.size()) && n <= left; ++n) {
            if (jobs[job].value[static_cast<std::size_t>(n)] != not_allowed) {
                self(self, job + 1, left - n, sum + jobs[job].value[static_cast<std::size_t>(n)]);
            }
        }
    };
    extend(extend, 0, nodes, 0);
    return best;
}

}  // namespace mastic::schedule::test
