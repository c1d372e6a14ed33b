#include <mastic/schedule/throughput_curve.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/core/error.hpp>
#include <mastic/schedule/log_text.hpp>

namespace mastic::schedule {
namespace {

[[noreturn]] void fail(const std::string& source, std::size_t line, const std::string& what) {
    throw Error(
        ExitCode::data, source + ":" + std::to_string(line) + ": " + what,
        "the header is model,1,2,4,... with ascending node counts; a row is a name and a rate for each");
}

constexpr int most_measured_nodes = 16'384;

int node_count(std::string_view cell, int before, const std::string& source, std::size_t line) {
    const auto nodes = parse_integer(cell);
    if (!nodes || *nodes <= before || *nodes > most_measured_nodes) {
        fail(source, line, "'" + std::string(cell) + "' is no node count above " + std::to_string(before));
    }
    return static_cast<int>(*nodes);
}

}  // namespace

ThroughputCurve curve_through(const std::vector<std::pair<int, double>>& points) {
    ThroughputCurve curve;
    int from = 0;
    double rate = 0;
    for (const auto& [nodes, target] : points) {
        for (int n = from + 1; n <= nodes; ++n) {
            curve.rate.push_back(rate + (target - rate) * (n - from) / (nodes - from));
        }
        from = nodes;
        rate = target;
    }
    return curve;
}

ThroughputCurve normalised(const ThroughputCurve& curve) {
    ThroughputCurve result = curve;
    std::ranges::for_each(result.rate, [unit = curve.at(1)](double& rate) { rate /= unit; });
    return result;
}

std::vector<NamedCurve> typical_curves(int largest) {
    struct Law {
        const char* name;
        double contention;
        double coherence;
    };
    constexpr Law laws[] = {{"nearly-linear", 0.0005, 0},
                            {"good", 0.003, 0.00001},
                            {"fair", 0.01, 0.00003},
                            {"saturating", 0.03, 0.0001}};
    std::vector<NamedCurve> curves;
    for (const Law& law : laws) {
        ThroughputCurve curve;
        for (int n = 1; n <= largest; ++n) {
            curve.rate.push_back(n / (1 + law.contention * (n - 1) + law.coherence * n * (n - 1.0)));
        }
        curves.push_back({law.name, std::move(curve)});
    }
    return curves;
}

std::vector<NamedCurve> parse_curves(std::string_view text, const std::string& source) {
    std::vector<NamedCurve> curves;
    std::vector<int> counts;
    LineReader lines(text);
    std::string_view line;
    while (lines.read(line)) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        const std::vector<std::string_view> cells = split(line, ',');
        if (counts.empty()) {
            for (std::size_t i = 1; i < cells.size(); ++i) {
                counts.push_back(
                    node_count(cells[i], counts.empty() ? 0 : counts.back(), source, lines.number()));
            }
            if (counts.empty()) {
                fail(source, lines.number(), "no node counts in the header");
            }
            continue;
        }
        if (cells.size() != counts.size() + 1) {
            fail(source, lines.number(),
                 std::to_string(cells.size() - 1) + " rates for " + std::to_string(counts.size()) +
                     " node counts");
        }
        std::vector<std::pair<int, double>> points;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const auto rate = parse_number(cells[i + 1]);
            if (!rate || !(*rate > 0)) {
                fail(source, lines.number(), "'" + std::string(cells[i + 1]) + "' is no rate above 0");
            }
            points.emplace_back(counts[i], *rate);
        }
        curves.push_back({std::string(cells[0]), curve_through(points)});
    }
    if (curves.empty()) {
        throw Error(ExitCode::data, source + ": no curve", "the header is model,1,2,4,...");
    }
    return curves;
}

}  // namespace mastic::schedule
