#include <mastic/model/blocked_layout.hpp>

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/torch.h>

namespace mastic::model {

namespace {

bool autocast_is_on() {
    return !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU);
}

bool can_be_blocked(const torch::Tensor& images) {
    return images.device().is_cpu() && images.scalar_type() == torch::kFloat && images.dim() == 4 &&
           images.numel() > 0 && at::hasMKLDNN() && at::globalContext().userEnabledMkldnn() &&
           !autocast_is_on() && !torch::jit::tracer::isTracing();
}

}  // namespace

torch::Tensor to_blocked(const torch::Tensor& images) {
    return can_be_blocked(images) ? images.contiguous().to_mkldnn() : images;
}

torch::Tensor to_plain(const torch::Tensor& images) {
    return images.is_mkldnn() ? images.to_dense() : images;
}

}  // namespace mastic::model
