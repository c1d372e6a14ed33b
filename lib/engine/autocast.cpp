#include <mastic/engine/autocast.hpp>

#include <torch/torch.h>

#include <torch/version.h>

#include <ATen/autocast_mode.h>

namespace mastic::engine {
namespace {

// torch 2.4 gave the switches a device argument.
void switch_cpu_autocast(bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(at::kCPU, on);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
#else
    at::autocast::set_cpu_enabled(on);
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
#endif
}

}  // namespace

Autocast::Autocast(bool enabled) : enabled_(enabled) {
    if (enabled_) {
        switch_cpu_autocast(true);
    }
}

Autocast::~Autocast() {
    if (enabled_) {
        at::autocast::clear_cache();  // holds bfloat16 copies of weights that the optimizer is about to change
        switch_cpu_autocast(false);
    }
}

}  // namespace mastic::engine
