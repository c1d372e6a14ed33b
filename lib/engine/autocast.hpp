// bfloat16 arithmetic inside forward: torch's autocast. Weights, gradients and the optimizer stay float32.
#pragma once

#include <torch/types.h>

namespace mastic::engine {

// While one lives (and `enabled`), operations that profit run in bfloat16. Not nestable.
class Autocast {
  public:
    Autocast(bool enabled, torch::Device device);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

  private:
    bool enabled_;
    torch::DeviceType device_;
};

}  // namespace mastic::engine
