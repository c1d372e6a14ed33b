// What a step costs a member, t(b) = fixed + per_sample * b seconds of computing for b samples, from what it measures in passing.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include <mastic/core/duration.hpp>

namespace mastic::data {

struct StepCost {
    Seconds fixed{0};
    Seconds per_sample{0};

    Seconds of(std::uint64_t samples) const { return fixed + per_sample * static_cast<double>(samples); }
    bool operator==(const StepCost&) const = default;
};

// Of the latest steps: the slope is the median over all pairs of steps with different sizes (Theil 1950, Sen 1968), which
// forgives nearly a third of outliers. Where the sizes are too much alike to tell, or say that the fixed part is negative, all
// is proportional: per_sample is the median of t / b.
class StepCostFit {
  public:
    static constexpr std::size_t window = 32;
    static constexpr double least_spread =
        0.2;  // (largest - smallest) / largest size, for a fixed part to be seen

    // Waiting for others is no part of `computing`. Steps without samples say nothing and are left out.
    void observe(std::uint64_t samples, Seconds computing);
    std::optional<StepCost> estimate() const;  // empty until something was measured

  private:
    struct Measured {
        double samples = 0, seconds = 0;
    };
    std::optional<double> slope() const;

    std::deque<Measured> latest_;
};

}  // namespace mastic::data
