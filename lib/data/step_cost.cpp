#include <mastic/data/step_cost.hpp>

#include <algorithm>
#include <vector>

namespace mastic::data {
namespace {

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace

void StepCostFit::observe(std::uint64_t samples, Seconds computing) {
    if (samples == 0 || computing.count() <= 0) {
        return;
    }
    latest_.push_back({static_cast<double>(samples), computing.count()});
    if (latest_.size() > window) {
        latest_.pop_front();
    }
}

std::optional<StepCost> StepCostFit::estimate() const {
    if (latest_.empty()) {
        return std::nullopt;
    }
    std::vector<double> rates, fixed;
    for (const Measured& one : latest_) {
        rates.push_back(one.seconds / one.samples);
    }
    const StepCost proportional{.per_sample = Seconds(median(rates))};
    const auto per_sample = slope();
    if (!per_sample || *per_sample <= 0) {
        return proportional;
    }
    for (const Measured& one : latest_) {
        fixed.push_back(one.seconds - *per_sample * one.samples);
    }
    const double left = median(fixed);
    return left < 0 ? proportional : StepCost{Seconds(left), Seconds(*per_sample)};
}

std::optional<double> StepCostFit::slope() const {
    const auto [least, most] = std::ranges::minmax(latest_, {}, &Measured::samples);
    if (most.samples - least.samples < least_spread * most.samples) {
        return std::nullopt;
    }
    std::vector<double> slopes;
    for (std::size_t i = 0; i < latest_.size(); ++i) {
        for (std::size_t j = i + 1; j < latest_.size(); ++j) {
            if (latest_[i].samples != latest_[j].samples) {
                slopes.push_back((latest_[j].seconds - latest_[i].seconds) /
                                 (latest_[j].samples - latest_[i].samples));
            }
        }
    }
    return median(slopes);
}

}  // namespace mastic::data
