#include "schedule/small_trace.hpp"

#include <algorithm>

#include <mastic/core/random.hpp>

namespace mastic::schedule::test {

IdleTrace small_trace(std::uint64_t seed, int cohorts, double span_s) {
    constexpr int nodes = 64;
    CounterRandom random(seed);
    std::vector<double> busy_until(nodes, 0.0);  // of the trace's own idle spans
    IdleTrace trace;
    trace.nodes = nodes;
    trace.end = span_s + 4000;
    for (int cohort = 0; cohort < cohorts; ++cohort) {
        const double begin = span_s * cohort / cohorts;
        const double life = 60 + 3540 * random.uniform() * random.uniform();
        const int size = 1 + static_cast<int>(random.below(12));
        const auto first = static_cast<int>(random.below(nodes));
        for (int i = 0; i < size; ++i) {
            const int node = (first + i) % nodes;
            double& free_from = busy_until[static_cast<std::size_t>(node)];
            if (free_from < begin) {
                const double end = begin + (random.below(5) == 0 ? life / 2 : life);
                trace.events.push_back({begin, node, true});
                trace.events.push_back({end, node, false});
                free_from = end;
            }
        }
    }
    std::ranges::stable_sort(trace.events, {}, &NodeEvent::time);
    return trace;
}

}  // namespace mastic::schedule::test
