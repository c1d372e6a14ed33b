// A batch of lib/data seen as tensors, without a copy.
#pragma once

#include <torch/types.h>

#include <mastic/data/dataset.hpp>

namespace mastic::engine {

struct BatchTensors {
    torch::Tensor inputs;   // (count, *input_shape)
    torch::Tensor targets;  // (count, *target_shape)
};

// The tensors look into `batch`, which must outlive them; they are for reading.
BatchTensors tensors_of(const data::Batch& batch, const data::SampleLayout& layout);

}  // namespace mastic::engine
