// replay-policies: progress of our policy against the oracle and the published ones, on a log of idle nodes.
//
// The log is not part of this repository: MASTIC_TRACES names a directory with summit-idle-nodes-days01-10.csv.gz
// (columns time_s,node,delta) and throughput-curves.csv.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <mastic/core/error.hpp>
#include <mastic/core/named.hpp>
#include <mastic/report/statistics.hpp>
#include <mastic/schedule/log_file.hpp>
#include <mastic/schedule/simulation.hpp>

#include "bench/bench_report.hpp"

namespace mastic::bench {
namespace {

using schedule::IdleTrace;
using schedule::SimulationSettings;
using Clock = std::chrono::steady_clock;

struct Regime {
    const char* name;
    int nodes;
    int jobs;
    double median_work;  // node-seconds
};

constexpr Regime regimes[] = {{"full30", 4608, 30, 57'600},
                              {"n1024j10", 1024, 10, 57'600},
                              {"n1024j30", 1024, 30, 57'600},
                              {"short", 1024, 10, 7'200}};
constexpr const char* peers[] = {"oracle", "bftrainer", "malletrain"};
// The published policies leave the horizon to the operator: each gets the better of these.
constexpr double peer_horizons[] = {60, 120};

struct Sample {
    double progress = 0;
    double seconds = 0;  // that the replay took
};

Sample measure(const IdleTrace& trace, const SimulationSettings& settings, const std::string& policy) {
    const auto begin = Clock::now();
    const auto& kind = require_named(schedule::policy_kinds(), policy, "policy");
    const double progress = schedule::run_policy(trace, settings, kind).result.progress;
    return {progress, std::chrono::duration<double>(Clock::now() - begin).count()};
}

double best_progress(const IdleTrace& trace, SimulationSettings settings, const std::string& peer) {
    double best = 0;
    for (const double horizon : peer_horizons) {
        settings.horizon_s = horizon;
        best = std::max(best, measure(trace, settings, peer).progress);
        if (peer == "oracle") {  // has no horizon
            break;
        }
    }
    return best;
}

void compare(const Regime& regime, const IdleTrace& log, SimulationSettings settings, int seeds,
             std::vector<BenchResult>& results) {
    const IdleTrace trace = log.first_nodes(regime.nodes);
    settings.workload.slots = regime.jobs;
    settings.workload.median_work = regime.median_work;
    std::vector<double> ours;
    std::vector<std::vector<double>> theirs(std::size(peers));
    double slowest = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        settings.workload.seed = static_cast<std::uint64_t>(seed);
        const Sample own = measure(trace, settings, "mastic");
        ours.push_back(own.progress);
        slowest = std::max(slowest, own.seconds);
        for (std::size_t p = 0; p < std::size(peers); ++p) {
            theirs[p].push_back(best_progress(trace, settings, peers[p]));
        }
    }
    for (std::size_t p = 0; p < std::size(peers); ++p) {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            ratios.push_back(ours[i] / theirs[p][i]);
        }
        results.push_back({std::string(regime.name) + "/" + peers[p], report::median(ours),
                           report::median(theirs[p]), peers[p], report::median(ratios),
                           report::quantile(ratios, 0.25), report::quantile(ratios, 0.75), "node-seconds"});
    }
    std::printf("%s: %.1f days, %d seeds, the slowest replay with our policy took %.1f s\n", regime.name,
                trace.end / 86'400, seeds, slowest);
    std::fflush(stdout);
}

int run(int argc, char** argv) {
    const BenchOptions options = parse_bench_options(argc, argv);
    const char* directory = std::getenv("MASTIC_TRACES");
    if (directory == nullptr) {
        std::fprintf(
            stderr,
            "replay-policies: set MASTIC_TRACES to the directory of summit-idle-nodes-days01-10.csv.gz and "
            "throughput-curves.csv; they are not part of mastic\n");
        return static_cast<int>(ExitCode::data);
    }
    const std::filesystem::path traces = directory;
    schedule::OddRows odd("trace", true);
    IdleTrace log = schedule::parse_idle_csv(
        schedule::LogFile(traces / "summit-idle-nodes-days01-10.csv.gz").text(), odd);
    if (options.quick) {
        log = log.slice(2 * 86'400, 3 * 86'400);
    }
    SimulationSettings settings;
    const schedule::LogFile curves(traces / "throughput-curves.csv");
    settings.workload.curves = schedule::parse_curves(curves.text(), "throughput-curves.csv");
    std::vector<BenchResult> results;
    for (const Regime& regime : regimes) {
        compare(regime, log, settings, options.quick ? 3 : 5, results);
    }
    report(results, options);
    return 0;
}

}  // namespace
}  // namespace mastic::bench

int main(int argc, char** argv) {
    try {
        return mastic::bench::run(argc, argv);
    } catch (const mastic::Error& error) {
        std::fprintf(stderr, "replay-policies: %s\n", error.full_message().c_str());
        return static_cast<int>(error.code());
    }
}
