// bfloat16 arithmetic inside forward: torch's autocast on the CPU. Weights, gradients and the optimizer stay float32.
#pragma once

namespace mastic::engine {

// While one lives (and `enabled`), operations that profit run in bfloat16. Not nestable.
class Autocast {
  public:
    explicit Autocast(bool enabled);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

  private:
    bool enabled_;
};

}  // namespace mastic::engine
