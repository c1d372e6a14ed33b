// Order statistics and smoothing of measured series. Values that are not finite are left out.
#pragma once

#include <span>
#include <vector>

namespace mastic::report {

// Linear interpolation between order statistics (Hyndman and Fan's type 7, as numpy); `share` in [0, 1]. Not
// a number if no value is finite.
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);
double mean(std::span<const double> values);

// Mean of the neighbours on both sides, with weights that halve every `half_life` points: without the lag of a one-sided
// moving average. A value that is not finite gives not a number at its place and does not count elsewhere.
std::vector<double> smoothed(std::span<const double> values, double half_life);

}  // namespace mastic::report
