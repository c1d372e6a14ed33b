// The time ahead that a decision counts with, tuned by replaying the site's own recent log.
//
// A long horizon moves nodes between jobs for small gains that the next event undoes, a short one does not even take
// free nodes. What is best depends on how often the pool changes and on what rescaling costs, so it is tried out.
#pragma once

#include <functional>

#include <mastic/schedule/idle_trace.hpp>

namespace mastic::schedule {

class HorizonTuner {
  public:
    // Progress in a replay of the log with this horizon.
    using Trial = std::function<double(const IdleTrace& log, double horizon_s)>;

    // One step of a search: the present horizon, the next shorter and the next longer one; a neighbour must be better
    // by 0.1 %.
    void tune(const IdleTrace& log, const Trial& trial);
    double horizon_s() const;

  private:
    std::size_t place_ = 2;
};

}  // namespace mastic::schedule
