#include <mastic/schedule/allocator.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <mastic/core/error.hpp>
#include <mastic/schedule/concave_hull.hpp>

namespace mastic::schedule {
namespace {

void check(std::span<const JobValues> jobs, int nodes) {
    if (nodes < 0) {
        throw Error(ExitCode::usage, "an allocation of " + std::to_string(nodes) + " nodes");
    }
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const auto& value = jobs[j].value;
        const bool valid =
            !value.empty() && std::isfinite(value[0]) &&
            std::ranges::all_of(value, [](double v) { return std::isfinite(v) || v == not_allowed; });
        if (!valid) {
            throw Error(ExitCode::usage, "the values of job " + std::to_string(j) +
                                             " are not finite, or none is given for 0 nodes");
        }
    }
}

struct Count {
    int nodes;
    double value;
};

// The counts of each job that may be in an optimum, the current one first, so that it wins a tie.
std::vector<std::vector<Count>> possible_counts(std::span<const JobValues> jobs, int nodes,
                                                const HullSolution& hull, double gap) {
    std::vector<std::vector<Count>> possible(jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        const double least = best_net_value(jobs[j], hull.price, nodes) - gap;
        for (int n = 0; n <= largest_count(jobs[j], nodes); ++n) {
            const double value = jobs[j].value[static_cast<std::size_t>(n)];
            if (value - hull.price * n >= least) {
                possible[j].push_back({n, value});
            }
        }
        const auto current = std::ranges::find(possible[j], jobs[j].current, &Count::nodes);
        if (current != possible[j].end()) {
            std::rotate(possible[j].begin(), current, current + 1);
        }
    }
    return possible;
}

// Nodes that the jobs up to one may use together.
struct Window {
    int low;
    int high;
    std::size_t size() const { return static_cast<std::size_t>(high - low + 1); }
};

class DynamicProgram {
  public:
    // `unused`: more nodes than this are not left over by an optimum.
    DynamicProgram(const std::vector<std::vector<Count>>& counts, int nodes, int unused)
        : counts_(counts), windows_(windows(counts, nodes, unused)), best_(counts.size()) {}

    std::vector<int> solve() {
        const std::vector<double> nothing = {0.0};
        for (std::size_t j = 0; j < counts_.size(); ++j) {
            add_job(j, window_before(j), j == 0 ? nothing : best_[j - 1]);
        }
        return trace_back();
    }

  private:
    static std::vector<Window> windows(const std::vector<std::vector<Count>>& counts, int nodes, int unused) {
        std::vector<int> least(counts.size());
        std::vector<int> most(counts.size());
        int least_after = 0;
        long long most_after = 0;
        for (std::size_t j = 0; j < counts.size(); ++j) {
            least[j] = std::ranges::min(counts[j], {}, &Count::nodes).nodes;
            most[j] = std::ranges::max(counts[j], {}, &Count::nodes).nodes;
            least_after += least[j];
            most_after += most[j];
        }
        std::vector<Window> result(counts.size());
        Window sum{0, 0};
        for (std::size_t j = 0; j < counts.size(); ++j) {
            least_after -= least[j];
            most_after -= most[j];
            sum.low += least[j];
            sum.high += most[j];
            const long long needed = static_cast<long long>(nodes) - unused - most_after;
            result[j].low = static_cast<int>(std::max<long long>(sum.low, needed));
            result[j].high = std::min(sum.high, nodes - least_after);
            result[j].high = std::max(result[j].high, result[j].low);
        }
        return result;
    }

    Window window_before(std::size_t job) const { return job == 0 ? Window{0, 0} : windows_[job - 1]; }

    // The best values for each number of nodes used by the jobs up to this one, from those without it. No choice is
    // remembered, so that the inner loop is nothing but a vector maximum.
    void add_job(std::size_t job, Window from, const std::vector<double>& before) {
        const Window to = windows_[job];
        best_[job].assign(to.size(), not_allowed);
        for (const Count& count : counts_[job]) {
            const int first = std::max(to.low, from.low + count.nodes);
            const int last = std::min(to.high, from.high + count.nodes);
            const double* source = before.data() + (first - count.nodes - from.low);
            double* target = best_[job].data() + (first - to.low);
            for (int i = 0; i <= last - first; ++i) {
                const double value = source[i] + count.value;
                target[i] = value > target[i] ? value : target[i];
            }
        }
    }

    // The first count, in their order, that gives the best value: the same sum again, so it compares equal.
    std::vector<int> trace_back() const {
        std::vector<int> nodes(counts_.size());
        if (counts_.empty()) {
            return nodes;
        }
        const std::vector<double>& last = best_.back();
        int used = windows_.back().low + static_cast<int>(std::ranges::max_element(last) - last.begin());
        for (std::size_t j = counts_.size(); j-- > 0;) {
            const double best = best_[j][static_cast<std::size_t>(used - windows_[j].low)];
            const auto chosen = std::ranges::find_if(counts_[j], [&](const Count& count) {
                return value_before(j, used - count.nodes) + count.value == best;
            });
            nodes[j] = chosen->nodes;
            used -= nodes[j];
        }
        return nodes;
    }

    double value_before(std::size_t job, int used) const {
        const Window window = window_before(job);
        if (used < window.low || used > window.high) {
            return not_allowed;
        }
        return job == 0 ? 0.0 : best_[job - 1][static_cast<std::size_t>(used - window.low)];
    }

    const std::vector<std::vector<Count>>& counts_;
    std::vector<Window> windows_;
    std::vector<std::vector<double>> best_;  // by job and nodes used by the jobs up to it
};

double value_of(std::span<const JobValues> jobs, const std::vector<int>& nodes) {
    double sum = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        sum += jobs[j].value[static_cast<std::size_t>(nodes[j])];
    }
    return sum;
}

}  // namespace

Allocation allocate(std::span<const JobValues> jobs, int nodes, const AllocatorLimits& limits) {
    check(jobs, nodes);
    const HullSolution hull = solve_hulls(jobs, nodes);
    double magnitude = std::abs(hull.bound);
    for (const JobValues& job : jobs) {
        magnitude = std::max(magnitude, std::abs(job.value[0]));
    }
    const double rounding = 1e-12 * static_cast<double>(jobs.size() + 1) * magnitude;
    const double gap = std::max(0.0, hull.bound - hull.value) + rounding;
    if (jobs.size() * static_cast<std::size_t>(nodes) > limits.exact_cells) {
        const double value = value_of(jobs, hull.nodes);
        return {hull.nodes, value, hull.bound, gap <= 2 * rounding};
    }
    const double most_unused = hull.price > 0 ? gap / hull.price : nodes;
    const int unused = most_unused < nodes ? static_cast<int>(most_unused) + 1 : nodes;
    const auto counts = possible_counts(jobs, nodes, hull, gap);
    Allocation result;
    result.nodes = DynamicProgram(counts, nodes, std::min(unused, nodes)).solve();
    result.value = value_of(jobs, result.nodes);
    result.bound = result.value;
    return result;
}

}  // namespace mastic::schedule
