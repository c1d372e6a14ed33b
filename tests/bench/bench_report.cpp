#include "bench/bench_report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include <mastic/core/file.hpp>
#include <mastic/report/statistics.hpp>

namespace mastic::bench {

BenchOptions parse_bench_options(int argc, char** argv) {
    BenchOptions options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--quick") {
            options.quick = true;
        } else if (argument == "--json" && i + 1 < argc) {
            options.json = argv[++i];
        } else {
            std::fprintf(stderr, "usage: %s [--quick] [--json FILE]\n", argv[0]);
            std::exit(2);
        }
    }
    return options;
}

BenchResult share_result(std::string name, double right, double total, std::string total_name) {
    const double ratio = total > 0 ? right / total : 0;
    return {std::move(name), right, total, std::move(total_name), ratio, ratio, ratio, "count"};
}

BenchResult compare(std::string name, const std::vector<double>& ours, const std::vector<double>& peer,
                    std::string peer_name, std::string unit) {
    using mastic::report::median;
    using mastic::report::quantile;
    std::vector<double> ratios(ours.size());
    std::ranges::transform(ours, peer, ratios.begin(), std::divides{});
    return {std::move(name),  median(ours),           median(peer),           std::move(peer_name),
            median(ratios),   quantile(ratios, 0.25), quantile(ratios, 0.75), std::move(unit)};
}

void report(const std::vector<BenchResult>& results, const BenchOptions& options) {
    std::size_t name_width = 4;
    std::size_t peer_width = 4;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const BenchResult& result : results) {
        name_width = std::max(name_width, result.name.size());
        peer_width = std::max(peer_width, result.peer_name.size());
        list.push_back({{"case", result.name},
                        {"ours", result.ours},
                        {"peer", result.peer},
                        {"peer_name", result.peer_name},
                        {"ratio", result.ratio},
                        {"q1", result.q1},
                        {"q3", result.q3},
                        {"unit", result.unit}});
    }
    const auto width = [](std::size_t value) { return static_cast<int>(value); };
    std::printf("%-*s  %12s  %12s  %-*s  %8s  %8s  %8s  %s\n", width(name_width), "case", "ours", "peer",
                width(peer_width), "peer is", "ratio", "q1", "q3", "unit");
    for (const BenchResult& r : results) {
        std::printf("%-*s  %12.6g  %12.6g  %-*s  %8.4f  %8.4f  %8.4f  %s\n", width(name_width),
                    r.name.c_str(), r.ours, r.peer, width(peer_width), r.peer_name.c_str(), r.ratio, r.q1,
                    r.q3, r.unit.c_str());
    }
    if (options.json) {
        write_file_atomically(*options.json, list.dump(1) + "\n");
    }
}

}  // namespace mastic::bench
