// Which of several candidates is the fastest, found with few repetitions: all run once in turn, again and again, and
// who is clearly slower than the leader runs no more (a racing rule, as in Maron and Moore 1994, with quartiles as the
// bounds).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <mastic/tuning/table.hpp>

namespace mastic::tuning {

struct RaceRules {
    int least = 8;           // repetitions of the winner
    int most = 30;           // repetitions of anybody
    int hopeless_after = 2;  // repetitions after which ...
    double hopeless = 3;     // ... whose fastest time is so many times the leader's slowest is dropped
    int clear_after = 5;     // repetitions after which a lower quartile above the leader's upper one is
};

class Race {
  public:
    Race(std::size_t candidates, const RaceRules& rules);

    // The times of one repetition in us, by candidate; those of dropped candidates are not looked at.
    void add(std::span<const double> times_us);

    bool is_running(std::size_t candidate) const { return running_[candidate]; }
    std::size_t running() const;
    // One is left and has run often enough, or all have run as often as they may.
    bool is_over() const;
    // Of those that were not dropped, the one with the smallest median. At least one repetition.
    std::size_t leader() const;
    const std::vector<double>& times_us(std::size_t candidate) const { return times_[candidate]; }

  private:
    void drop_losers();
    bool is_beaten(const std::vector<double>& times, const std::vector<double>& best) const;

    RaceRules rules_;
    std::vector<std::vector<double>> times_;
    std::vector<bool> running_;
};

Timing timing_of(const std::vector<double>& times_us);

}  // namespace mastic::tuning
