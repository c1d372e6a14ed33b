#include <mastic/comm/request.hpp>

#include <algorithm>

#include <spdlog/spdlog.h>

#include <mastic/core/error.hpp>

namespace mastic::comm {

Clock::duration to_ticks(Seconds span) {
    const Seconds year = std::chrono::hours(24 * 365);
    return std::chrono::duration_cast<Clock::duration>(std::min(span, year));
}

Request::State::State(std::string operation_name, WaitLimits wait_limits,
                      std::weak_ptr<StallSource> stall_source)
    : name(std::move(operation_name)), limits(wait_limits), source_(std::move(stall_source)) {}

void Request::State::complete(Seconds took) {
    const std::lock_guard lock(mutex_);
    if (done_) {
        return;
    }
    done_ = true;
    duration_ = took;
    finished_.notify_all();
}

void Request::State::fail(std::exception_ptr reason) {
    const std::lock_guard lock(mutex_);
    if (done_) {
        return;
    }
    done_ = true;
    error_ = std::move(reason);
    finished_.notify_all();
}

bool Request::State::done() const {
    const std::lock_guard lock(mutex_);
    return done_;
}

void Request::State::rethrow_if_failed() const {
    const std::lock_guard lock(mutex_);
    if (error_) {
        std::rethrow_exception(error_);
    }
}

Seconds Request::State::duration() const {
    const std::lock_guard lock(mutex_);
    return duration_;
}

void Request::State::wait() {
    const auto begin = Clock::now();
    const auto deadline = begin + to_ticks(limits.timeout);
    auto next_report = begin + to_ticks(limits.stall_report);
    std::unique_lock lock(mutex_);
    while (!finished_.wait_until(lock, std::min(next_report, deadline), [this] { return done_; })) {
        lock.unlock();
        const auto now = Clock::now();
        if (now >= deadline) {
            give_up(now - begin);
        }
        report_stall(now - begin);
        next_report = now + to_ticks(limits.stall_report);
        lock.lock();
    }
    lock.unlock();
    rethrow_if_failed();
}

void Request::State::report_stall(Seconds waited) const {
    const auto source = source_.lock();
    spdlog::warn("waiting for '{}' since {}; in flight: {} (time-out at {})", name, human(waited),
                 source ? source->describe_stall() : "unknown", human(limits.timeout));
}

void Request::State::give_up(Seconds waited) {
    const auto source = source_.lock();
    const std::string message = "'" + name + "' did not complete within " + human(waited) +
                                "; in flight: " + (source ? source->describe_stall() : "unknown");
    if (source) {
        source->declare_broken(message);
        // The caller may free its buffers after this: not while they are in use, which takes a step.
        constexpr std::chrono::seconds longest_step{5};
        std::unique_lock lock(mutex_);
        finished_.wait_for(lock, longest_step, [this] { return done_; });
    }
    throw Error(
        ExitCode::collective, message,
        "a rank is stopped, lost or did not start this operation: look at the other ranks' logs; raise "
        "--allreduce.timeout if a rank is only slow");
}

bool Request::test() const {
    if (!state_) {
        return true;
    }
    if (!state_->done()) {
        return false;
    }
    state_->rethrow_if_failed();
    return true;
}

void Request::wait() const {
    if (state_) {
        state_->wait();
    }
}

Seconds Request::duration() const {
    return state_ ? state_->duration() : Seconds(0);
}

}  // namespace mastic::comm
