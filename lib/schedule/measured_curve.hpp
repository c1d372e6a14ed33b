// A throughput curve from points that were measured, as MalleTrain's profiler has it.
#pragma once

#include <map>

#include <mastic/schedule/throughput_curve.hpp>

namespace mastic::schedule {

class MeasuredCurve {
  public:
    void set(int nodes, double rate);  // a newer value replaces the old one
    bool has(int nodes) const { return points_.contains(nodes); }
    std::size_t points() const { return points_.size(); }

    // Relative to one node: straight lines in the logarithms between the points and beyond them (exponents from 0 to
    // 1.1); n^0.9 through a single point or none.
    ThroughputCurve relative(int largest) const;

  private:
    double rate(int nodes) const;
    std::map<int, double> points_;
};

}  // namespace mastic::schedule
