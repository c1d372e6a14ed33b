// The layout in which oneDNN computes convolutions, kept from one layer to the next.
//
// oneDNN blocks channels by the vector width. With plain tensors every convolution reorders its input and output and
// the layers between run on ATen's generic kernels; with blocked tensors convolution, batch normalisation, ReLU,
// pooling and addition all stay in that layout. Measured on one AVX-512 core against plain tensors (same memory
// settings): lenet 0.72 of the step time, resnet18 0.93. Parameters and their gradients stay plain.
#pragma once

#include <torch/types.h>

namespace mastic::model {

// `images` (B, C, H, W) blocked for oneDNN if that is possible, else unchanged: another device or type than CPU float32,
// an empty batch, autocast, a TorchScript trace, or at::globalContext().setUserEnabledMkldnn(false). Second derivatives
// need plain tensors: use that last switch.
torch::Tensor to_blocked(const torch::Tensor& images);

// The plain form of a tensor that may be blocked.
torch::Tensor to_plain(const torch::Tensor& images);

}  // namespace mastic::model
