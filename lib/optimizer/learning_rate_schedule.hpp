// The learning rate as a function of the samples seen, so that it does not depend on the number of ranks or the batch.
// No torch here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::optimizer {

enum class ScheduleKind { constant, step, cosine, linear };
const char* to_string(ScheduleKind kind);
ScheduleKind parse_schedule_kind(std::string_view name);  // throws Error(usage), with the nearest name

struct ScheduleOptions {
    double base = 0.01;  // the rate after warm-up
    ScheduleKind kind = ScheduleKind::constant;
    std::uint64_t warmup = 0;   // samples
    double warmup_start = 0.1;  // fraction of the rate at sample 0 (Goyal et al. 2017 start at 1/k)
    std::vector<std::uint64_t> decay_points = {};  // step: samples, ascending
    double decay_factor = 0.1;                     // step: multiplies at each point
    double final_rate = 0.0;                       // cosine, linear: reached at `total`, kept from then on
    std::uint64_t total = 0;                       // cosine, linear: samples of the whole training
};

class LearningRateSchedule {
  public:
    // Throws Error(usage) for values out of range, naming the option.
    explicit LearningRateSchedule(ScheduleOptions options);

    // The rate of the step that starts when `samples_seen` samples have been seen. The warm-up is a straight line from
    // warmup_start * rate to rate; cosine (Loshchilov, Hutter 2017) and linear fall from its end to `total`.
    double rate(std::uint64_t samples_seen) const;
    // "0.1, linear warm-up over 5000 samples, cosine to 0 at 600000 samples"
    std::string description() const;

  private:
    double rate_after_warmup(std::uint64_t samples_seen) const;

    ScheduleOptions options_;
};

}  // namespace mastic::optimizer
