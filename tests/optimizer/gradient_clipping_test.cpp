#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <mastic/optimizer/gradient_clipping.hpp>

#include "support/expect_error.hpp"

namespace mastic::optimizer {
namespace {

TEST(GradientClipping, ScalesAllBuffersByTheGlobalNorm) {
    const std::vector<torch::Tensor> buffers = {torch::tensor({3.0f}), torch::tensor({0.0f, 4.0f})};
    EXPECT_DOUBLE_EQ(clip_by_global_norm(buffers, 10.0), 5.0);
    EXPECT_EQ(buffers[0].item<float>(), 3.0f);
    EXPECT_DOUBLE_EQ(clip_by_global_norm(buffers, 1.0), 5.0);
    EXPECT_NEAR(global_norm(buffers), 1.0, 1e-6);
    EXPECT_FLOAT_EQ(buffers[0].item<float>(), 0.6f);
}

TEST(GradientClipping, AddsInDoublePrecision) {
    const std::vector<torch::Tensor> buffers = {torch::full({1 << 20}, 1e25f)};  // a square overflows float32
    EXPECT_NEAR(global_norm(buffers) / (1024 * 1e25), 1.0, 1e-6);
}

TEST(GradientClipping, LeavesANormThatIsNotFiniteToTheCaller) {
    const std::vector<torch::Tensor> buffers = {torch::tensor({1.0f, NAN}), torch::tensor({2.0f})};
    EXPECT_TRUE(std::isnan(clip_by_global_norm(buffers, 1.0)));
    EXPECT_EQ(buffers[1].item<float>(), 2.0f);
    EXPECT_EQ(clip_by_global_norm({}, 1.0), 0.0);
    test::expect_error(ExitCode::usage, "must be positive", [&] { clip_by_global_norm(buffers, 0.0); });
}

}  // namespace
}  // namespace mastic::optimizer
