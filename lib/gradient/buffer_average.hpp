// Keeps buffers that each rank computes from its own samples (BatchNorm's running statistics) the same on all ranks: after
// each forward pass they are averaged, weighted by samples. So no rank's state is special, in a checkpoint or after a
// change of the rank count. (PyTorch DDP instead overwrites them with rank 0's.)
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <torch/types.h>

#include <mastic/comm/group.hpp>

namespace mastic::gradient {

class BufferAverage {
  public:
    // Takes the floating-point ones of `buffers`; counters stay as they are. `group` must outlive this.
    BufferAverage(const std::vector<torch::Tensor>& buffers, comm::Group& group);

    // After forward. `weight`: this rank's share of the step's samples, over all ranks 1 in sum.
    void start(double weight);
    void finish();

  private:
    std::vector<torch::Tensor> buffers_;
    std::vector<torch::Tensor> slots_;  // views of flat_, shaped like the buffers
    torch::Tensor flat_;                // float64: the weighted sum rounds once
    comm::Group& group_;
    comm::Request request_;
};

}  // namespace mastic::gradient
