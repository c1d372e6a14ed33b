#include <mastic/optimizer/gradient_clipping.hpp>

#include <cmath>

#include <torch/torch.h>

#include <mastic/core/error.hpp>

namespace mastic::optimizer {

double global_norm(std::span<const torch::Tensor> gradients) {
    torch::NoGradGuard no_grad;
    double squares = 0.0;
    for (const torch::Tensor& gradient : gradients) {
        const double norm =
            at::linalg_vector_norm(gradient, 2, at::OptionalIntArrayRef(), false, torch::kDouble)
                .item<double>();
        squares += norm * norm;
    }
    return std::sqrt(squares);
}

double clip_by_global_norm(std::span<const torch::Tensor> gradients, double max_norm) {
    if (!(max_norm > 0.0)) {
        throw Error(ExitCode::usage,
                    "the gradient's largest norm must be positive, not " + std::to_string(max_norm));
    }
    const double norm = global_norm(gradients);
    if (std::isfinite(norm) && norm > max_norm) {
        torch::NoGradGuard no_grad;
        for (const torch::Tensor& gradient : gradients) {
            gradient.mul_(max_norm / norm);
        }
    }
    return norm;
}

}  // namespace mastic::optimizer
