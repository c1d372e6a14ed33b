// A fit of three unknowns that cannot be negative.
#pragma once

#include <array>
#include <vector>

namespace mastic::tuning {

// The x >= 0 for which the sum over the rows of (row . x - 1)^2 is least: all sets of unknowns that may be positive are
// tried.
std::array<double, 3> non_negative_least_squares(std::vector<std::array<double, 3>> rows);

}  // namespace mastic::tuning
