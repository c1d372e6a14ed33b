#include <mastic/comm/poll_policy.hpp>

#include <algorithm>
#include <string>

#include <mastic/core/named.hpp>

namespace mastic::comm {

namespace {

constexpr PollPolicyName names[] = {
    {PollPolicy::automatic, "auto", "spin where each rank has a core to spare, else sleep"},
    {PollPolicy::spin, "spin", "poll without a pause: lowest latency, takes a whole core"},
    {PollPolicy::yield, "yield",
     "offer the core to others between two polls: takes least, progresses when computation pauses"},
    {PollPolicy::sleep, "sleep",
     "naps that grow between two polls: progresses beside computation and takes little from it"},
};

// Naps double with every 4 polls up to 64 us, since a segment needs several polls to complete, then with every 64 polls up
// to 1 ms, for a rank that is late.
int nap_microseconds(int idle_polls) {
    constexpr int quick_polls = 4 * 6;
    if (idle_polls < quick_polls) {
        return 1 << (idle_polls / 4);
    }
    return 64 << std::min((idle_polls - quick_polls) / 64, 4);
}

}  // namespace

std::span<const PollPolicyName> poll_policies() {
    return names;
}

PollPolicy parse_poll_policy(std::string_view name) {
    return require_named(names, name, "poll policy").policy;
}

const char* to_string(PollPolicy policy) {
    return std::find_if(std::begin(names), std::end(names),
                        [policy](const auto& entry) { return entry.policy == policy; })
        ->name;
}

PollPolicy resolve(PollPolicy wanted, double cores_per_rank, int compute_threads) {
    if (wanted != PollPolicy::automatic) {
        return wanted;
    }
    return cores_per_rank >= compute_threads + 1 ? PollPolicy::spin : PollPolicy::sleep;
}

// `sleep` does not yield first: who yields to a computing thread waits for its whole time slice, who wakes from a nap
// preempts it.
Pause Backoff::next(PollPolicy resolved) {
    if (resolved == PollPolicy::spin) {
        return {};
    }
    if (resolved == PollPolicy::yield) {
        return {.yield = true};
    }
    const int idle_polls = idle_polls_;
    idle_polls_ = std::min(idle_polls_ + 1, 1'000'000);
    return {.nap = std::chrono::microseconds(nap_microseconds(idle_polls))};
}

}  // namespace mastic::comm
