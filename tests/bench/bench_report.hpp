// What all benchmarks share: their two options, the table on standard output, the JSON file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mastic::bench {

struct BenchOptions {
    bool quick = false;                         // --quick: ends in under a minute
    std::optional<std::filesystem::path> json;  // --json FILE
};

// Prints usage to standard error and exits with 2 for anything else.
BenchOptions parse_bench_options(int argc, char** argv);

// One comparison; ratio is ours / peer, q1 and q3 its quartiles over the repetitions (the ratio itself if
// there is one).
struct BenchResult {
    std::string name;  // "stall/resnet18"
    double ours = 0;
    double peer = 0;
    std::string peer_name;
    double ratio = 0;
    double q1 = 0;
    double q3 = 0;
    std::string unit;
};

// A count out of a total: ratio 1 means all.
BenchResult share_result(std::string name, double right, double total, std::string total_name);

// `ours` and `peer` hold one number a repetition, in the same order: ratios are taken inside a repetition.
BenchResult compare(std::string name, const std::vector<double>& ours, const std::vector<double>& peer,
                    std::string peer_name, std::string unit);

// The table, then the JSON array, written atomically, if asked for.
void report(const std::vector<BenchResult>& results, const BenchOptions& options);

}  // namespace mastic::bench
