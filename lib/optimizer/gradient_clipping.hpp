// Bounding the length of the whole gradient (Pascanu et al. 2013).
#pragma once

#include <span>

#include <torch/types.h>

namespace mastic::optimizer {

// The Euclidean norm over all elements of all tensors, added in float64. Not finite if an element is not.
double global_norm(std::span<const torch::Tensor> gradients);

// Scales all tensors in place so that their global norm is at most `max_norm` (> 0). Returns the norm before. A norm
// that is not finite changes nothing: the caller decides.
double clip_by_global_norm(std::span<const torch::Tensor> gradients, double max_norm);

}  // namespace mastic::optimizer
