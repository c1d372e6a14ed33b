#include <mastic/schedule/workload.hpp>

#include <cmath>
#include <numbers>

#include <mastic/core/random.hpp>

namespace mastic::schedule {

double normal_draw(std::uint64_t seed, std::uint64_t counter) {
    CounterRandom random(CounterRandom::derive(seed, counter));
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

WorkloadItem training_of(const Workload& workload, std::int64_t n) {
    const auto number = static_cast<std::uint64_t>(n);
    CounterRandom random(CounterRandom::derive(workload.seed, 2 * number));
    WorkloadItem training;
    training.curve = random.below(workload.curves.size());
    training.work =
        workload.median_work * std::exp(workload.spread * normal_draw(workload.seed, 2 * number + 1));
    return training;
}

}  // namespace mastic::schedule
