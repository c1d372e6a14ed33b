#include <mastic/report/axis.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <mastic/report/number_format.hpp>

namespace mastic::report {
namespace {

bool showable(double value, Scale scale) {
    return std::isfinite(value) && (scale == Scale::linear || value > 0);
}

struct Multiple {
    double value;
    const char* suffix;
    double from;  // the largest label from which it is used: 2000 reads better than 2k
};

// Labels of one axis share multiple and decimals, so that they can be compared at a glance.
std::vector<Tick> linear_ticks(Range range, double step) {
    const double largest = std::max(std::abs(range.low), std::abs(range.high));
    double unit = 1;
    std::string suffix;
    for (const auto& [multiple, name, from] : {Multiple{1e9, "G", 1e9}, {1e6, "M", 1e6}, {1e3, "k", 1e4}}) {
        if (largest >= from && step >= 0.01 * multiple) {
            unit = multiple;
            suffix = name;
            break;
        }
    }
    const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step / unit) + 1e-9)));
    std::vector<Tick> result;
    for (double i = std::ceil(range.low / step - 1e-9); i * step <= range.high + step * 1e-9; ++i) {
        const double value = i == 0 ? 0 : i * step;
        std::string label = decimals > 4 ? significant(value, 6) : fixed(value / unit, decimals) + suffix;
        result.push_back({value, value == 0 ? "0" : std::move(label)});
    }
    return result;
}

std::string decade_label(double value) {
    return value >= 1e3 ? scaled(value) : significant(value, 3);
}

std::vector<Tick> logarithmic_ticks(Range range, int target) {
    const double decades = std::log10(range.high / range.low);
    const int every = std::max(1, static_cast<int>(std::ceil(decades / target)));
    std::vector<double> factors{1};
    if (decades * 3 <= target) {
        factors = {1, 2, 5};
    } else if (decades * 2 <= target) {
        factors = {1, 3};
    }
    std::vector<Tick> result;
    const int first = static_cast<int>(std::floor(std::log10(range.low)));
    const int last = static_cast<int>(std::ceil(std::log10(range.high)));
    for (int decade = first; decade <= last; ++decade) {
        if (decade % every != 0) {
            continue;
        }
        for (const double factor : factors) {
            const double value = factor * std::pow(10.0, decade);
            if (value >= range.low * (1 - 1e-9) && value <= range.high * (1 + 1e-9)) {
                result.push_back({value, decade_label(value)});
            }
        }
    }
    return result;
}

}  // namespace

Range range_of(const std::vector<std::span<const double>>& lists, Scale scale) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const auto list : lists) {
        for (const double value : list) {
            if (showable(value, scale)) {
                low = std::min(low, value);
                high = std::max(high, value);
            }
        }
    }
    if (low > high) {
        return scale == Scale::linear ? Range{0, 1} : Range{1, 10};
    }
    // Closer together than a float can tell apart: noise, not a range.
    if (high - low <= 1e-9 * std::max(std::abs(low), std::abs(high))) {
        if (scale == Scale::logarithmic) {
            return {low / 2, high * 2};
        }
        const double room = low == 0 ? 1 : std::abs(low) * 0.5;
        return {low - room, high + room};
    }
    return {low, high};
}

Range padded(Range range, Scale scale, double share) {
    if (scale == Scale::logarithmic) {
        const double factor = std::pow(range.high / range.low, share);
        return {range.low / factor, range.high * factor};
    }
    const double room = (range.high - range.low) * share;
    const double low = range.low - room;
    return {range.low >= 0 ? std::max(0.0, low) : low, range.high + room};
}

double nice_step(double span, int intervals) {
    const double least = span / std::max(1, intervals);
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least * (1 - 1e-9)) {
            return factor * power;
        }
    }
    return 10 * power;
}

std::vector<Tick> ticks(Range range, Scale scale, int target, bool whole) {
    if (scale == Scale::logarithmic && range.high / range.low >= 4) {
        if (auto result = logarithmic_ticks(range, target); !result.empty()) {
            return result;
        }
    }
    const double step = nice_step(range.high - range.low, target);
    auto result = linear_ticks(range, whole ? std::max(1.0, step) : step);
    if (result.empty()) {
        const double middle = (range.low + range.high) / 2;
        result.push_back({middle, significant(middle)});
    }
    return result;
}

AxisMap::AxisMap(Scale scale, Range range, double pixel_of_low, double pixel_of_high)
    : scale_(scale), low_(0), per_unit_(1), pixel_of_low_(pixel_of_low) {
    low_ = position(range.low);
    per_unit_ = (pixel_of_high - pixel_of_low) / (position(range.high) - low_);
}

double AxisMap::position(double value) const {
    return scale_ == Scale::linear ? value : std::log10(value);
}

double AxisMap::operator()(double value) const {
    if (!showable(value, scale_)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return pixel_of_low_ + (position(value) - low_) * per_unit_;
}

double AxisMap::value_at(double pixel) const {
    const double place = low_ + (pixel - pixel_of_low_) / per_unit_;
    return scale_ == Scale::linear ? place : std::pow(10.0, place);
}

}  // namespace mastic::report
