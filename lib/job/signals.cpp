#include <mastic/job/signals.hpp>

#include <atomic>
#include <stdexcept>

#include <unistd.h>

namespace mastic::job {
namespace {

constexpr int exit_interrupted = 128 + SIGINT;  // as shells report it

std::atomic<int> first_stop{0};
std::atomic<bool> checkpoint_asked{false};
std::atomic<bool> interrupted{false};
std::atomic<bool> watching{false};
// Only lock-free atomics may be touched in a signal handler.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void note(int signal) {
    if (signal == SIGUSR2) {
        checkpoint_asked = true;
        return;
    }
    if (signal == SIGINT && interrupted.exchange(true)) {
        _exit(exit_interrupted);
    }
    int none = 0;
    first_stop.compare_exchange_strong(none, signal);
}

}  // namespace

const char* to_string(StopReason reason) {
    switch (reason) {
        case StopReason::none:
            return "none";
        case StopReason::interrupt:
            return "SIGINT";
        case StopReason::terminate:
            return "SIGTERM";
        case StopReason::user_signal:
            return "SIGUSR1";
        case StopReason::time_limit:
            return "time limit";
    }
    return "unknown";
}

StopReason stop_reason_of(int signal) {
    switch (signal) {
        case SIGINT:
            return StopReason::interrupt;
        case SIGTERM:
            return StopReason::terminate;
        case SIGUSR1:
            return StopReason::user_signal;
        default:
            return StopReason::none;
    }
}

void hold_signals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGTERM, SIGUSR1, SIGUSR2}) {
        sigaddset(&held, signal);
    }
    pthread_sigmask(SIG_BLOCK, &held, nullptr);
}

SignalWatch::SignalWatch() {
    if (watching.exchange(true)) {
        throw std::logic_error("a second SignalWatch in one process");
    }
    first_stop = 0;
    checkpoint_asked = false;
    interrupted = false;
    struct sigaction action = {};
    action.sa_handler = note;
    // Libraries (MPI, HDF5) do not expect interrupted system calls.
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigset_t watched;
    sigemptyset(&watched);
    for (std::size_t i = 0; i < std::size(watched_); ++i) {
        sigaction(watched_[i], &action, &former_[i]);
        sigaddset(&watched, watched_[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);  // those that were held arrive now
}

SignalWatch::~SignalWatch() {
    for (std::size_t i = 0; i < std::size(watched_); ++i) {
        sigaction(watched_[i], &former_[i], nullptr);
    }
    watching = false;
}

std::optional<int> SignalWatch::stop_signal() const {
    const int signal = first_stop;
    return signal == 0 ? std::nullopt : std::optional(signal);
}

StopReason SignalWatch::stop_reason() const {
    return stop_reason_of(first_stop);
}

bool SignalWatch::take_checkpoint_request() {
    return checkpoint_asked.exchange(false);
}

}  // namespace mastic::job
