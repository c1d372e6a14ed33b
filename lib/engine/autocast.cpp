#include <mastic/engine/autocast.hpp>

#include <torch/torch.h>

#include <torch/version.h>

#include <ATen/autocast_mode.h>

namespace mastic::engine {
namespace {

// torch 2.4 gave the switches a device argument.
void switch_autocast(torch::DeviceType device, bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(device, on);
    at::autocast::set_autocast_dtype(device, at::kBFloat16);
#else
    if (device == torch::kCPU) {
        at::autocast::set_cpu_enabled(on);
        at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    } else {
        at::autocast::set_enabled(on);
        at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    }
#endif
}

}  // namespace

Autocast::Autocast(bool enabled, torch::Device device) : enabled_(enabled), device_(device.type()) {
    if (enabled_) {
        switch_autocast(device_, true);
    }
}

Autocast::~Autocast() {
    if (enabled_) {
        at::autocast::clear_cache();  // holds bfloat16 copies of weights that the optimizer is about to change
        switch_autocast(device_, false);
    }
}

}  // namespace mastic::engine
