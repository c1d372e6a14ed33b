#include <mastic/schedule/manager/setbacks.hpp>

#include <algorithm>
#include <cmath>

#include <mastic/core/error.hpp>

namespace mastic::schedule {
namespace {

constexpr double first_wait_s = 5;
constexpr double longest_wait_s = 600;

}  // namespace

void Setbacks::progressed(std::int64_t samples) {
    if (samples > samples_) {
        samples_ = samples;
        failures_ = fruitless_ = 0;
        not_before_s_ = 0;
    }
}

void Setbacks::ended(const PilotEnd& end, const std::string& log) {
    const bool well = end.code == 0 || end.code == static_cast<int>(ExitCode::requeue);
    if (end.code && !well) {
        failed_ = true;
        last_ = "code " + std::to_string(*end.code) + " (" + to_string(static_cast<ExitCode>(*end.code)) +
                "); its log is " + log;
    }
    lost_ |= end.code != 0;
}

void Setbacks::hung(const std::string& what) {
    failed_ = lost_ = true;
    last_ = what;
}

void Setbacks::count(double now_s) {
    failures_ += failed_ ? 1 : 0;
    if (lost_) {
        ++fruitless_;
        not_before_s_ =
            now_s + std::min(longest_wait_s, first_wait_s * std::pow(2.0, std::min(fruitless_ - 1, 20)));
    }
    failed_ = lost_ = false;
}

}  // namespace mastic::schedule
