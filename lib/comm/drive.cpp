#include <mastic/comm/drive.hpp>

#include <algorithm>
#include <cstdint>

#include <sched.h>

namespace mastic::comm {

namespace {

// Reading the clock costs as much as a small message: not before it is needed.
constexpr std::uint64_t polls_before_the_clock = 64;

struct Idleness {
    std::uint64_t polls = 0;    // in a row that found nothing
    Clock::time_point since{};  // valid from poll `polls_before_the_clock` on, of sockets from the first

    bool every(std::uint64_t count) const { return polls % count == 0; }
    Clock::duration length() const { return Clock::now() - since; }
};

// `wait(idleness)` pauses after a step that found nothing to do, or returns false to give up; `busy()` follows one that
// did something.
template <class Wait, class Busy>
bool step_until_complete(Operation& operation, const Wait& wait, const Busy& busy) {
    operation.start();
    for (Idleness idleness;;) {
        const Step step = operation.step();
        if (step == Step::complete) {
            return true;
        }
        if (step == Step::advanced) {
            idleness.polls = 0;
            busy();
            continue;
        }
        if (++idleness.polls == (operation.event_driven() ? 1 : polls_before_the_clock)) {
            idleness.since = Clock::now();
        }
        if (!wait(idleness)) {
            return false;
        }
    }
}

// Who spins does so for about 100 us; then others may need the core more.
void pause(const Idleness& idleness, PollPolicy policy) {
    constexpr std::uint64_t spins = 2000;
    if (policy != PollPolicy::spin || idleness.polls > spins) {
        sched_yield();
    }
}

}  // namespace

bool drive(Operation& operation, EventLoop& loop, PollPolicy policy) {
    constexpr std::chrono::milliseconds patience{2};
    constexpr std::chrono::milliseconds patience_with_sockets{100};
    const auto wait = [&](const Idleness& idleness) {
        if (operation.event_driven()) {
            const auto left = patience_with_sockets - idleness.length();
            if (left <= Clock::duration::zero()) {
                return false;
            }
            loop.wait(left);
            return true;
        }
        pause(idleness, policy);
        return !idleness.every(polls_before_the_clock) || idleness.length() <= patience;
    };
    return step_until_complete(operation, wait, [] {});
}

void drive_to_completion(Operation& operation, EventLoop& loop, const DriveOptions& options) {
    constexpr std::uint64_t polls_between = 32;
    constexpr std::uint64_t rounds_between = 16;
    // A nap grows with the time that nothing has happened: short against it, and short for who needs `meanwhile`.
    constexpr std::chrono::microseconds longest_nap{500};
    constexpr int part_of_idle_time = 8;
    constexpr std::chrono::microseconds shortest_nap{10};
    const auto wait = [&](const Idleness& idleness) {
        if (operation.event_driven()) {
            const auto nap = std::min<Clock::duration>(idleness.length() / part_of_idle_time, longest_nap);
            loop.wait(nap < shortest_nap ? Clock::duration::zero() : nap);
            if (options.meanwhile) {
                options.meanwhile();
            }
            return true;
        }
        if (idleness.every(polls_between)) {
            if (options.sockets) {
                loop.wait({});
            }
            if (options.meanwhile) {
                options.meanwhile();
            }
        }
        pause(idleness, options.policy);
        return true;
    };
    std::uint64_t rounds = 0;
    const auto busy = [&] {
        if (options.sockets && ++rounds % rounds_between == 0) {
            loop.wait({});
        }
    };
    step_until_complete(operation, wait, busy);
}

}  // namespace mastic::comm
