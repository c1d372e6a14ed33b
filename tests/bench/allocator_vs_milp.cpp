// allocator-vs-milp: is the allocation the optimum, and how long does it take?
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <mastic/report/statistics.hpp>
#include <mastic/schedule/allocator.hpp>

#include "bench/bench_report.hpp"
#include "schedule/milp.hpp"
#include "schedule/random_values.hpp"

namespace mastic::bench {
namespace {

using schedule::JobValues;
using schedule::test::random_values;
using Clock = std::chrono::steady_clock;

struct Size {
    int jobs;
    int nodes;
    double budget_ms;
    double milp_limit_s;  // GLPK may not end at the largest
};

constexpr Size sizes[] = {{100, 1000, 1, 30}, {200, 2000, 10, 30}, {500, 4000, 100, 30}};

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The worst ratio of values over small instances, which GLPK solves to the end.
BenchResult objective(int instances) {
    BenchResult worst{"objective", 0, 0, "optimum by GLPK", 2, 2, 2, "samples"};
    std::vector<double> ratios;
    for (int seed = 0; seed < instances; ++seed) {
        const int jobs = 2 + seed % 14;
        const int nodes = 8 + seed * 13 % 200;
        const auto values = random_values({jobs, nodes, 32}, static_cast<std::uint64_t>(seed));
        const double ours = schedule::allocate(values, nodes).value;
        const auto milp = schedule::test::solve_milp(values, nodes);
        if (!milp.optimal) {
            std::fprintf(stderr, "GLPK did not solve instance %d\n", seed);
            continue;
        }
        ratios.push_back(ours / milp.value);
        if (ratios.back() < worst.ratio) {
            worst.ours = ours;
            worst.peer = milp.value;
            worst.ratio = ratios.back();
        }
    }
    worst.q1 = report::quantile(ratios, 0.25);
    worst.q3 = report::quantile(ratios, 0.75);
    return worst;
}

// Median over the instances; each of ours is the fastest of three, so that the first touch of memory does not count.
void add_times(const Size& size, const BenchOptions& options, std::vector<BenchResult>& results) {
    std::vector<double> ours;
    std::vector<double> milp;
    std::vector<double> ratio;
    const int instances = options.quick ? 20 : 100;
    const int milp_instances = options.quick ? 1 : 10;
    for (int seed = 0; seed < instances; ++seed) {
        const auto values = random_values({size.jobs, size.nodes, 64}, static_cast<std::uint64_t>(seed));
        double fastest = 1e9;
        for (int repetition = 0; repetition < 3; ++repetition) {
            const auto begin = Clock::now();
            schedule::allocate(values, size.nodes);
            fastest = std::min(fastest, milliseconds_since(begin));
        }
        ours.push_back(fastest);
        if (seed < milp_instances) {
            const auto begin = Clock::now();
            schedule::test::solve_milp(values, size.nodes, options.quick ? 5 : size.milp_limit_s);
            milp.push_back(milliseconds_since(begin));
            ratio.push_back(fastest / milp.back());
        }
    }
    const std::string name = "time/" + std::to_string(size.jobs) + "x" + std::to_string(size.nodes);
    using report::quantile;
    results.push_back({name + "/milp", report::median(ours), report::median(milp), "GLPK, compact model",
                       report::median(ratio), quantile(ratio, 0.25), quantile(ratio, 0.75), "ms"});
    results.push_back({name + "/budget", report::median(ours), size.budget_ms, "budget",
                       report::median(ours) / size.budget_ms, quantile(ours, 0.25) / size.budget_ms,
                       quantile(ours, 0.75) / size.budget_ms, "ms"});
    std::printf("%s: slowest of %d instances %.3f ms\n", name.c_str(), instances, std::ranges::max(ours));
}

int run(int argc, char** argv) {
    const BenchOptions options = parse_bench_options(argc, argv);
    std::vector<BenchResult> results = {objective(options.quick ? 200 : 1000)};
    for (const Size& size : sizes) {
        add_times(size, options, results);
    }
    report(results, options);
    return 0;
}

}  // namespace
}  // namespace mastic::bench

int main(int argc, char** argv) {
    return mastic::bench::run(argc, argv);
}
