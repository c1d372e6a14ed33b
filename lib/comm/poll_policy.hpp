// How the progress thread waits while operations are in flight. It competes with computation for cores:
// polling without a pause is the fastest where a core is free for it, and takes half of the computation's
// core where none is.
#pragma once

#include <chrono>
#include <span>
#include <string_view>

namespace mastic::comm {

enum class PollPolicy { automatic, spin, yield, sleep };

struct PollPolicyName {
    PollPolicy policy;
    const char* name;
    const char* description;
};
std::span<const PollPolicyName> poll_policies();
PollPolicy parse_poll_policy(std::string_view name);  // throws Error(usage) with a suggestion
const char* to_string(PollPolicy policy);

// What `automatic` means here: spin where every rank has a core more than it has compute threads, else sleep.
// `cores_per_rank`: cores that the ranks of this node may use together / ranks of this node.
PollPolicy resolve(PollPolicy wanted, double cores_per_rank, int compute_threads);

// One pause between two polls. `nap` zero: give the core away (`yield`) or just relax it.
struct Pause {
    bool yield = false;
    std::chrono::microseconds nap{0};
};

// Pauses grow while nothing happens.
class Backoff {
  public:
    void reset() { idle_polls_ = 0; }
    Pause next(PollPolicy resolved);

  private:
    int idle_polls_ = 0;
};

}  // namespace mastic::comm
