// A batch of lib/data seen as tensors, without a copy.
#pragma once

#include <string>

#include <torch/types.h>

#include <mastic/data/dataset.hpp>

namespace mastic::engine {

struct BatchTensors {
    torch::Tensor inputs;   // (count, *input_shape)
    torch::Tensor targets;  // (count, *target_shape)
};

// The tensors look into `batch`, which must outlive them; they are for reading.
BatchTensors tensors_of(const data::Batch& batch, const data::SampleLayout& layout);

// The same batch where the network is: copied, unless that is host memory. Error(data) for a class that is not below `classes`
// (0: no classes), which a device would not tell.
BatchTensors on_device(const BatchTensors& batch, torch::Device device, std::int64_t classes);

// What the network is given under this train.precision: float64 converts, bf16 is autocast's business, tokens stay.
torch::Tensor network_input(const torch::Tensor& inputs, const std::string& precision);

}  // namespace mastic::engine
