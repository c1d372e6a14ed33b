// Signals as flags that the step loop polls. SIGTERM, SIGINT and SIGUSR1 ask for a stop with a checkpoint;
// SIGUSR2 asks for a checkpoint and no stop. Signals reach ranks at different times: the ranks agree on them
// by a maximum.
#pragma once

#include <csignal>
#include <iterator>
#include <optional>

namespace mastic::job {

// Why a run stops early. The values are comparable over ranks: the largest wins.
enum class StopReason : int { none = 0, interrupt = 1, terminate = 2, user_signal = 3, time_limit = 4 };

// For messages and run.json: "SIGTERM", "time limit", "none".
const char* to_string(StopReason reason);

StopReason stop_reason_of(int signal);  // none for a signal that asks for no stop

// Keeps SIGTERM, SIGUSR1 and SIGUSR2 waiting, also for the program that this process becomes by exec, until a SignalWatch
// takes them: a program that is being loaded has no handlers yet and would die of them. SIGINT still ends it at once.
void hold_signals();

// Catches the signals while it lives, then restores the former handlers. One at a time in a process
// (std::logic_error). A second SIGINT ends the process at once with exit code 130.
class SignalWatch {
  public:
    SignalWatch();
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    // The first signal that asked for a stop; it stays.
    std::optional<int> stop_signal() const;
    StopReason stop_reason() const;
    // True once for any number of SIGUSR2 since the last call.
    bool take_checkpoint_request();

  private:
    static constexpr int watched_[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
    struct sigaction former_[std::size(watched_)] = {};
};

}  // namespace mastic::job
