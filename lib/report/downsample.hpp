// Long series made short for a screen, without losing spikes.
#pragma once

#include <vector>

namespace mastic::report {

// x and y in pixels; y not a number: a gap.
struct PixelPoint {
    double x = 0;
    double y = 0;
    bool operator==(const PixelPoint&) const = default;
};

// Of each run of consecutive points within one column (`column_width` pixels), keeps first, lowest, highest
// and last, in their order: a line through them covers the same pixels (Jugel, Jerzak, Hackenbroich, Markl
// 2014, "M4"). A gap stays a gap if it fills its column; points at a place that is not finite are left out.
std::vector<PixelPoint> downsampled(const std::vector<PixelPoint>& points, double column_width = 1);

}  // namespace mastic::report
