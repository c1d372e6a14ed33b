// What the trainer trains: one input tensor, one output tensor, named parameters and buffers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <torch/nn/module.h>
#include <torch/types.h>

namespace mastic::model {

// Tensors with the names that files use: "conv1.weight".
using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// What one sample looks like and how many values the network answers with. The batch dimension is not part of `shape`:
// images are (channels, height, width) in float32, token sequences are (T) in int64.
struct InputSpec {
    std::vector<std::int64_t> shape = {};
    std::int64_t outputs = 0;  // classes, regression values, or the vocabulary of a token model
    bool tokens = false;
};

// input (B, *shape) -> output (B, outputs), or (B, T, outputs) for tokens.
class Network : public torch::nn::Module {
  public:
    virtual torch::Tensor forward(torch::Tensor input) = 0;
};

// Where its weights are, and so where it wants its inputs.
torch::Device device_of(const Network& network);

// The parameters that training changes, in the order of registration (about that of the forward pass).
NamedTensors trainable_parameters(const Network& network);

}  // namespace mastic::model
