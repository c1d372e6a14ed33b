#include <mastic/report/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mastic::report {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

struct Sum {
    double total = 0;
    double weight = 0;
};

// Adds to each sum the values up to it, with weights that fall with the distance.
template <class In, class Out>
void accumulate(In begin, In end, double keep, Out sums) {
    Sum past;
    for (In value = begin; value != end; ++value, ++sums) {
        past = {past.total * keep, past.weight * keep};
        if (std::isfinite(*value)) {
            past = {past.total + *value, past.weight + 1};
        }
        *sums = {sums->total + past.total, sums->weight + past.weight};
    }
}

}  // namespace

double quantile(std::vector<double> values, double share) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) {
        return no_value;
    }
    const double position = share * static_cast<double>(values.size() - 1);
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(position);
    std::nth_element(values.begin(), at, values.end());
    const double lower = *at;
    const auto next = std::min_element(at + 1, values.end());
    return next == values.end() ? lower : lower + (position - std::floor(position)) * (*next - lower);
}

double median(std::vector<double> values) {
    return quantile(std::move(values), 0.5);
}

double mean(std::span<const double> values) {
    double sum = 0;
    std::size_t count = 0;
    for (const double value : values) {
        if (std::isfinite(value)) {
            sum += value;
            ++count;
        }
    }
    return count == 0 ? no_value : sum / static_cast<double>(count);
}

std::vector<double> smoothed(std::span<const double> values, double half_life) {
    const double keep = std::exp2(-1.0 / half_life);
    std::vector<Sum> sums(values.size());
    accumulate(values.begin(), values.end(), keep, sums.begin());
    accumulate(values.rbegin(), values.rend(), keep, sums.rbegin());
    std::vector<double> result;
    result.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        // Both directions have counted the value itself.
        result.push_back(std::isfinite(values[i]) ? (sums[i].total - values[i]) / (sums[i].weight - 1)
                                                  : no_value);
    }
    return result;
}

}  // namespace mastic::report
