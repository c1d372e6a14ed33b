// What a step of an elastic run consists of when members come and go. Pure.
//
//   none    the members share train.batch_size: as many samples a step whoever takes part, and the same learning rate
//   linear  each member adds train.batch_size samples, and the learning rate grows with their number (Goyal et al., "Accurate,
//           large minibatch SGD: training ImageNet in 1 hour", 2017)
//   sqrt    the same, but it grows with the root of their number, which keeps the noise of the updates (Krizhevsky, "One weird
//           trick for parallelizing convolutional neural networks", 2014; for Adam: Malladi et al., NeurIPS 2022)
#pragma once

#include <cstdint>
#include <string_view>

namespace mastic::engine {

enum class BatchScaling { none, linear, sqrt };

// Throws Error(usage) for any other name.
BatchScaling parse_batch_scaling(std::string_view name);

// Samples of a step of so many members.
std::uint64_t scaled_batch(BatchScaling scaling, std::uint64_t batch, std::size_t members);
// What the learning rate is multiplied by.
double scaled_rate(BatchScaling scaling, std::size_t members);

}  // namespace mastic::engine
