// Pilots of a training that ended before it came any further. The next one waits longer each time; after some that ended with
// an error the training is given up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mastic/schedule/manager/pilot_fleet.hpp>

namespace mastic::schedule {

class Setbacks {
  public:
    // `failures` as an earlier manager counted them, with so many samples done.
    explicit Setbacks(int failures = 0, std::int64_t samples = 0) : failures_(failures), samples_(samples) {}

    // A training that has done more samples than ever is in order.
    void progressed(std::int64_t samples);
    // What ended since the last round: however many there are, they count as one failure. `log`: of a pilot.
    void ended(const PilotEnd& end, const std::string& log);
    // They were ended because they did nothing, which `what` says.
    void hung(const std::string& what);
    void count(double now_s);

    int failures() const { return failures_; }
    double not_before_s() const { return not_before_s_; }
    const std::string& last() const { return last_; }  // "code 3 (data); its log is ...", "no step in 10 min; ..."

  private:
    int failures_ = 0;   // in a row, with an error of mastic-train or without a sign of life
    int fruitless_ = 0;  // in a row, whatever ended them
    std::int64_t samples_ = 0;
    bool failed_ = false;  // since the last count
    bool lost_ = false;
    double not_before_s_ = 0;
    std::string last_;
};

}  // namespace mastic::schedule
