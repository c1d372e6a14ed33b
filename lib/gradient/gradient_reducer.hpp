// Sums the gradients of all ranks while the backward pass still runs.
//
// Gradients live as views in flat buckets of memory that the group allocated. When autograd has accumulated the last
// gradient of a bucket, the reduction of that bucket starts; finish() waits for what is left. The sum is not divided:
// the caller scales its loss by 1 / (samples of the step over all ranks), so that ranks with unequal shares, none
// included, weigh right.
//
// One step:  begin(); forward; backward of each micro-batch, before the last one of which expect_last_backward();
//            finish(); the optimizer reads parameter.grad().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torch/types.h>

#include <mastic/comm/group.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/core/trace.hpp>
#include <mastic/gradient/bucket_plan.hpp>
#include <mastic/gradient/flat_gradients.hpp>
#include <mastic/model/network.hpp>

namespace mastic::gradient {

struct ReducerOptions {
    BucketOptions buckets;
    bool overlap = true;  // false: every reduction starts in finish(), for comparison
    // Told the name of each bucket that finish() has to wait for, before it waits.
    std::function<void(std::string_view bucket)> on_wait = nullptr;
};

class GradientReducer {
  public:
    // Checks with all ranks that the buckets are the same (Error(collective) otherwise). `group` and `trace` must
    // outlive the reducer.
    GradientReducer(model::NamedTensors parameters, comm::Group& group, const ReducerOptions& options, Trace& trace);
    ~GradientReducer();

    void begin();
    void expect_last_backward();
    // Starts what backward did not reach (parameters unused in this step, a rank without samples: they count as zero
    // gradients) and waits for all. Returns the time spent waiting: communication that computation did not hide.
    Seconds finish();

    // Time from start to completion of the last step's reductions, added up.
    Seconds reduction_time() const;
    const std::vector<torch::Tensor>& flat_gradients() const;
    // The gradients of the last step, for as long as the caller likes: later steps use other memory meanwhile.
    std::shared_ptr<const FlatGradients> hold() const;
    std::size_t bucket_count() const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace mastic::gradient
