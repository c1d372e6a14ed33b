// Throughput of a job against its node count.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mastic::schedule {

// Rate at 0, 1, 2, ... nodes, any unit per second; rate[0] is 0. Larger counts have the last rate.
struct ThroughputCurve {
    std::vector<double> rate{0.0};

    int largest() const { return static_cast<int>(rate.size()) - 1; }
    double at(int nodes) const {
        return rate[static_cast<std::size_t>(nodes < largest() ? (nodes > 0 ? nodes : 0) : largest())];
    }
};

struct NamedCurve {
    std::string name;
    ThroughputCurve curve;
};

// Straight lines between the points (nodes, rate), from 0 at 0 nodes; nodes ascend from at least 1.
ThroughputCurve curve_through(const std::vector<std::pair<int, double>>& points);

// The same shape with one node's rate as the unit.
ThroughputCurve normalised(const ThroughputCurve& curve);

// Built in: four trainings between nearly linear and quickly saturating scaling, by the universal scalability law
// n / (1 + a (n - 1) + b n (n - 1)) (Gunther 1993), up to `largest` nodes.
std::vector<NamedCurve> typical_curves(int largest);

// CSV: the header `model,1,2,4,...` names the node counts, a row has a name and rates; `#` starts a comment line.
// Throws Error(data) naming file and line.
std::vector<NamedCurve> parse_curves(std::string_view text, const std::string& source);

}  // namespace mastic::schedule
