#include <mastic/schedule/lifetimes.hpp>

#include <algorithm>
#include <cmath>

namespace mastic::schedule {
namespace {

constexpr double unknown_s = 600;
constexpr std::size_t bin_count = 160;
constexpr double bins_per_unit = 10;  // of the natural logarithm of 1 + seconds

std::size_t bin_of(double seconds) {
    const double position = bins_per_unit * std::log1p(std::max(0.0, seconds));
    return std::min(bin_count - 1, static_cast<std::size_t>(position));
}

}  // namespace

Lifetimes::Lifetimes() : bins_(bin_count) {}

void Lifetimes::add(double seconds) {
    Bin& bin = bins_[bin_of(seconds)];
    bin.count += 1;
    bin.seconds += seconds;
}

double Lifetimes::expected_residual_s(double age_s) const {
    double count = 0;
    double seconds = 0;
    bool any = false;
    const std::size_t own = bin_of(age_s);
    for (std::size_t i = 0; i < bins_.size(); ++i) {
        any = any || bins_[i].count > 0;
        if (i > own) {
            count += bins_[i].count;
            seconds += bins_[i].seconds;
        }
    }
    return count > 0 ? seconds / count - age_s : any ? age_s : unknown_s;
}

}  // namespace mastic::schedule
