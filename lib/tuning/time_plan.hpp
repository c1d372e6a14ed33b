// How a sweep divides its time: each cell (one collective at one size on one shape) may use its share of what is left,
// so what a cell does not use is for those after it.
#pragma once

#include <cstddef>
#include <vector>

#include <mastic/comm/plan/algorithms.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::tuning {

class TimePlan {
  public:
    // `weights`: of the cells, in their order.
    TimePlan(std::vector<double> weights, Seconds budget);

    // For this cell, that begins `elapsed` after the start of the sweep. Zero: no time is left, skip it.
    Seconds allotted(std::size_t cell, Seconds elapsed) const;

  private:
    std::vector<double> weight_from_;  // of a cell and all after it
    Seconds budget_;
};

// Grows with the root of the size, because large buffers take long and small ones are soon done; allreduce, which
// training is made of, counts three times.
double cell_weight(comm::Collective collective, Bytes size);

}  // namespace mastic::tuning
