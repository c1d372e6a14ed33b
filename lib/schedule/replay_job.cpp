#include <mastic/schedule/replay_job.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <mastic/core/random.hpp>
#include <mastic/schedule/replay.hpp>
#include <mastic/schedule/workload.hpp>

namespace mastic::schedule {

ReplayJob::ReplayJob(JobId id, double work, const ThroughputCurve& curve, const ThroughputCurve& relative,
                     int least, const RescaleCosts& costs)
    : id_(id), work_(work), curve_(&curve), relative_(&relative), least_(least), costs_(costs) {}

JobNodes ReplayJob::nodes() const {
    JobNodes nodes{running_, {}, paused_until_};
    std::map<double, int> starting;
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (!is_ready(i)) {
            ++starting[ready_[i]];
        }
    }
    for (const auto& [ready, count] : starting) {
        nodes.starting.push_back({count, ready});
    }
    return nodes;
}

double ReplayJob::next_event(double now) const {
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (!is_ready(i)) {
            next = std::min(next, ready_[i]);
        }
    }
    if (computes()) {
        next = std::min(next, std::max(now, paused_until_) + (work_ - progress_) / relative_->at(running_));
    }
    return next;
}

double ReplayJob::advance(double now, double until, NodeSeconds& account) {
    const double span = until - now;
    account.starting += span * (held() - running_);
    if (!computes()) {
        account.paused += span * running_;
        return 0;
    }
    const double paused = std::clamp(paused_until_ - now, 0.0, span);
    account.paused += paused * running_;
    account.computing += (span - paused) * running_;
    const double made = std::min((span - paused) * relative_->at(running_), work_ - progress_);
    const double finish = std::max(now, paused_until_) + (work_ - progress_) / relative_->at(running_);
    progress_ = finish <= until ? work_ : progress_ + made;
    return made;
}

void ReplayJob::pause(double now, double seconds) {
    paused_until_ = std::max(paused_until_, now + seconds);
    steady_since_ = std::max(now, paused_until_);
}

void ReplayJob::count_running() {
    running_ = 0;
    for (std::size_t i = 0; i < held_.size(); ++i) {
        running_ += is_ready(i) ? 1 : 0;
    }
}

void ReplayJob::grow(const std::vector<IdleNode>& added, double now) {
    const double ready = costs_.live ? now + costs_.start_s : now;
    held_.insert(held_.end(), added.begin(), added.end());
    ready_.insert(ready_.end(), added.size(), ready);
    if (!costs_.live) {
        ready_until_ = now;
        count_running();
        pause(now, costs_.start_s);
    }
}

void ReplayJob::join_ready(double now, const std::function<void(const IdleNode&)>& joined) {
    const int before = running_;
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (!is_ready(i) && ready_[i] <= now) {
            joined(held_[i]);
        }
    }
    ready_until_ = now;
    count_running();
    if (running_ > before) {
        pause(now, before > 0 ? costs_.join_s : 0);
    }
}

std::vector<IdleNode> ReplayJob::release(int count, double now, bool by_cohort) {
    std::vector<IdleNode> released;
    if (count <= 0) {
        return released;
    }
    // Those that do not compute yet go first, the last ones of them before the others.
    std::vector<std::size_t> order;
    for (std::size_t i = held_.size(); i-- > 0;) {
        if (!is_ready(i)) {
            order.push_back(i);
        }
    }
    std::ranges::stable_sort(order, std::greater{}, [this](std::size_t i) { return ready_[i]; });
    order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
    if (const int rest = count - static_cast<int>(order.size()); rest > 0) {
        std::vector<IdleNode> computing;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < held_.size(); ++i) {
            if (is_ready(i)) {
                computing.push_back(held_[i]);
                places.push_back(i);
            }
        }
        for (const std::size_t i : nodes_to_release(computing, rest, by_cohort)) {
            order.push_back(places[i]);
        }
    }
    std::ranges::sort(order, std::greater{});
    for (const std::size_t i : order) {
        released.push_back(held_[i]);
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
        ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    const int before = running_;
    count_running();
    if (running_ < before) {
        pause(now, running_ > 0 ? costs_.shrink_s : 0);
    }
    return released;
}

bool ReplayJob::lose(int node) {
    const auto found = std::ranges::find(held_, node, &IdleNode::node);
    const auto i = static_cast<std::size_t>(found - held_.begin());
    const bool computed = is_ready(i);
    held_.erase(found);
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
    return computed;
}

void ReplayJob::lost_nodes(double now) {
    count_running();
    pause(now, running_ > 0 ? costs_.shrink_s : 0);
}

std::optional<ReplayJob::Measurement> ReplayJob::measurement(double now, double noise, std::uint64_t seed) {
    const double seconds = now - std::max(steady_since_, paused_until_);
    if (!computes() || seconds < shortest_measurement_s - 1e-6) {
        return std::nullopt;
    }
    steady_since_ = now;
    const double error = noise * std::sqrt(shortest_measurement_s / seconds);
    const std::uint64_t stream =
        CounterRandom::derive(seed ^ 0x6d65617375726564u, static_cast<std::uint64_t>(id_));
    const double factor = std::max(0.1, 1 + error * normal_draw(stream, measurements_++));
    return Measurement{running_, curve_->at(running_) * factor, seconds};
}

}  // namespace mastic::schedule
