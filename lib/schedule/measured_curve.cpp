#include <mastic/schedule/measured_curve.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace mastic::schedule {
namespace {

constexpr double assumed_exponent = 0.9;

}  // namespace

void MeasuredCurve::set(int nodes, double rate) {
    points_[nodes] = rate;
}

double MeasuredCurve::rate(int nodes) const {
    if (points_.empty()) {
        return std::pow(nodes, assumed_exponent);
    }
    auto upper = points_.lower_bound(nodes);
    if (upper != points_.end() && upper->first == nodes) {
        return upper->second;
    }
    if (points_.size() == 1) {
        const auto& [known, rate] = *points_.begin();
        return rate * std::pow(static_cast<double>(nodes) / known, assumed_exponent);
    }
    if (upper == points_.end()) {
        upper = std::prev(upper);
    } else if (upper == points_.begin()) {
        upper = std::next(upper);
    }
    const auto lower = std::prev(upper);
    const double exponent = std::clamp(
        std::log(upper->second / lower->second) / std::log(static_cast<double>(upper->first) / lower->first),
        0.0, 1.1);
    return lower->second * std::pow(static_cast<double>(nodes) / lower->first, exponent);
}

ThroughputCurve MeasuredCurve::relative(int largest) const {
    ThroughputCurve curve;
    const double unit = rate(1);
    for (int n = 1; n <= largest; ++n) {
        curve.rate.push_back(rate(n) / unit);
    }
    return curve;
}

}  // namespace mastic::schedule
