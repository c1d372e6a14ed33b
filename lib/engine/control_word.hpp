// What the ranks of a step must agree on, in one small reduction that travels while backward runs: the loss, whether
// any rank saw a non-finite value, whether to stop, whether to save, how many checkpoint shards are written.
//
// Every rank adds its facts; every rank reads the same sums, so every rank takes the same decision at the same step.
#pragma once

#include <array>
#include <memory>

#include <mastic/comm/group.hpp>
#include <mastic/job/signals.hpp>

namespace mastic::engine {

struct StepFacts {
    double loss_sum = 0.0;  // of this rank's samples, divided by the samples of the step over all ranks
    bool non_finite = false;
    job::StopReason stop = job::StopReason::none;
    bool checkpoint = false;      // save after this step
    bool shard_finished = false;  // this rank's part of the checkpoint in flight is written, or failed
    std::int64_t next_generation = 0;  // of an elastic run: rank 0's word for all
};

struct StepAgreement {
    double loss = 0.0;  // mean over the samples of the step
    int non_finite_ranks = 0;
    int non_finite_rank = -1;  // the rank, if it is one alone
    job::StopReason stop = job::StopReason::none;
    bool checkpoint = false;
    int shards_finished = 0;
    std::int64_t next_generation = 0;
};

class ControlWord {
  public:
    explicit ControlWord(comm::Group& group) : group_(group) {}
    void start(const StepFacts& facts);
    StepAgreement finish();

  private:
    using Sums = std::array<double, 10>;

    comm::Group& group_;
    std::shared_ptr<Sums> sums_ = std::make_shared<Sums>();
    comm::Request request_;
};

}  // namespace mastic::engine
