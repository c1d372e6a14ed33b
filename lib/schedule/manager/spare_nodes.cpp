#include <mastic/schedule/manager/spare_nodes.hpp>

#include <algorithm>

namespace mastic::schedule {
namespace {

constexpr double missing_for_long_s = 30;  // most jobs that only look something up are over by then
constexpr double not_taken_again_s = 300;

std::string nodes_that_stay_idle(int count) {
    return std::to_string(count) + (count == 1 ? " node stays" : " nodes stay") + " idle for others";
}

}  // namespace

int SpareNodes::spare(const NodesNow& now) const {
    return std::min(now.idle, wanted_);
}

SpareNodes::Share SpareNodes::share(const NodesNow& now, double now_s) {
    if (now_s >= not_taken_until_s_) {
        given_back_ = 0;
    }
    if (const int missing = missing_for_long(now, now_s); missing > 0) {
        given_back_ = std::min(given_back_ + missing, wanted_);
        not_taken_until_s_ = now_s + not_taken_again_s;
        missing_since_s_.reset();
        return {-missing, "serve.spare: others use nodes that shall stay idle"};
    }
    const int left = std::max(0, now.idle - wanted_ - given_back_);
    if (left >= now.startable) {
        return {now.startable, ""};
    }
    return {left, "serve.spare: " + nodes_that_stay_idle(std::min(now.idle, wanted_ + given_back_))};
}

// 0 as long as what is missing has not been missing for long.
int SpareNodes::missing_for_long(const NodesNow& now, double now_s) {
    const int missing = std::min(wanted_ - now.idle - now.leaving, now.held);
    if (missing <= 0) {
        missing_since_s_.reset();
        return 0;
    }
    missing_since_s_ = missing_since_s_.value_or(now_s);
    return now_s - *missing_since_s_ >= missing_for_long_s ? missing : 0;
}

}  // namespace mastic::schedule
