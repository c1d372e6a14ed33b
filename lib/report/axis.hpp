// Axes: ranges, ticks at 1-2-5 steps, and the map from values to pixels.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mastic::report {

enum class Scale { linear, logarithmic };

struct Range {
    double low = 0;
    double high = 1;
    bool operator==(const Range&) const = default;
};

// Smallest range over the finite values (logarithmic: positive ones) of all the lists. No such value: 0..1
// (logarithmic: 1..10). A single value is widened to both sides, so that low < high always.
Range range_of(const std::vector<std::span<const double>>& lists, Scale scale);

// Leaves `share` of the length free on both sides; a linear range that is not negative stays so.
Range padded(Range range, Scale scale, double share);

// The smallest of 1, 2, 5 times a power of ten that divides `span` into at most `intervals` intervals.
double nice_step(double span, int intervals);

struct Tick {
    double value;
    std::string label;
};

// About `target` ticks (never none) inside the range. Linear: multiples of a nice step, all labelled with the
// same decimals and multiple ("0.5", "12k"). Logarithmic: decades, with 2 and 5 between them if there is
// room; less than a factor of four is ticked like a linear axis. `whole`: no fractions (steps, epochs).
std::vector<Tick> ticks(Range range, Scale scale, int target, bool whole = false);

// From value to pixel.
class AxisMap {
  public:
    AxisMap(Scale scale, Range range, double pixel_of_low, double pixel_of_high);
    // Not a number for what the axis cannot show (not finite; logarithmic: <= 0). May be outside the two
    // pixels.
    double operator()(double value) const;
    double value_at(double pixel) const;

  private:
    double position(double value) const;
    Scale scale_;
    double low_;
    double per_unit_;
    double pixel_of_low_;
};

}  // namespace mastic::report
