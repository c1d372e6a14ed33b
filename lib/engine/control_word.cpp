#include <mastic/engine/control_word.hpp>

#include <cmath>

namespace mastic::engine {
namespace {

// All fields are sums, so each reason to stop has a counter of its own.
enum Field { loss, non_finite, non_finite_rank, checkpoint, shards, next_generation, first_reason };
constexpr std::array reasons = {job::StopReason::time_limit, job::StopReason::user_signal,
                                job::StopReason::terminate, job::StopReason::interrupt};

}  // namespace

void ControlWord::start(const StepFacts& facts) {
    static_assert(std::tuple_size_v<Sums> == first_reason + reasons.size());
    Sums& sums = *sums_;
    sums = {};
    sums[loss] = std::isfinite(facts.loss_sum) ? facts.loss_sum : 0.0;
    sums[non_finite] = facts.non_finite ? 1 : 0;
    sums[non_finite_rank] = facts.non_finite ? group_.rank() : 0;
    sums[checkpoint] = facts.checkpoint ? 1 : 0;
    sums[shards] = facts.shard_finished ? 1 : 0;
    sums[next_generation] = static_cast<double>(facts.next_generation);
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        sums[first_reason + i] = facts.stop == reasons[i] ? 1 : 0;
    }
    request_ = group_.start_allreduce({sums.data(), sums.size(), DataType::float64}, comm::ReduceOp::sum,
                                      {.priority = 1, .name = "control word", .owner = sums_});
}

StepAgreement ControlWord::finish() {
    request_.wait();
    const Sums& sums = *sums_;
    StepAgreement agreed;
    agreed.loss = sums[loss];
    agreed.non_finite_ranks = static_cast<int>(sums[non_finite]);
    agreed.non_finite_rank = agreed.non_finite_ranks == 1 ? static_cast<int>(sums[non_finite_rank]) : -1;
    agreed.checkpoint = sums[checkpoint] > 0;
    agreed.shards_finished = static_cast<int>(sums[shards]);
    agreed.next_generation = static_cast<std::int64_t>(sums[next_generation]);
    for (std::size_t i = 0; i < reasons.size() && agreed.stop == job::StopReason::none; ++i) {
        agreed.stop = sums[first_reason + i] > 0 ? reasons[i] : job::StopReason::none;
    }
    return agreed;
}

}  // namespace mastic::engine
