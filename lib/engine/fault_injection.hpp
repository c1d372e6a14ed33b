// Faults on demand, so that tests can show what a run does about them: --train.inject KIND@STEP:RANK; and slowness, so that
// a benchmark on one machine sees ranks that do not take each other's cores: --train.inject slow@MICROSECONDS[:RANK].
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::engine {

class FaultInjection {
  public:
    FaultInjection() = default;
    // "nan@5:1" makes the loss of rank 1 in step 5 NaN, "kill@5:1" ends that rank with SIGKILL before its backward pass,
    // "kill-evaluation@5:1" before it evaluates the state after step 5, "kill-save@5:1" before it saves it,
    // "crash@5:1" ends it with SIGSEGV, "stall@5:1" makes it sleep there for an hour, "flip@5:1" changes one of its weights after the
    // update, as bad memory does. "slow@2000" lets each sample take 2 ms more, asleep, on all ranks, "slow@2000:1" on rank 1.
    // Several have commas between them; "" injects nothing. Throws Error(usage).
    FaultInjection(std::string_view text, int rank);

    bool poisons_loss(std::int64_t step) const { return matches("nan", step); }
    bool flips_weight(std::int64_t step) const { return matches("flip", step); }
    void before_backward(std::int64_t step) const;
    void before_evaluation(std::int64_t step) const { kill_if(matches("kill-evaluation", step)); }
    void before_save(std::int64_t step) const { kill_if(matches("kill-save", step)); }
    void compute(std::int64_t samples) const;  // in each forward pass

  private:
    struct Fault {
        std::string kind;
        std::int64_t step;
    };
    void add(std::string_view text, int rank);
    bool matches(std::string_view kind, std::int64_t step) const;
    static void kill_if(bool due);

    std::vector<Fault> faults_;  // of this rank
    std::chrono::microseconds sample_time_{0};
};

}  // namespace mastic::engine
