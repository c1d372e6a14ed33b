// What both sides of staged-vs-resident compute: gradients of a perceptron with one hidden layer on made-up samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mastic::bench {

class Perceptron {
  public:
    static constexpr std::size_t inputs = 784, hidden = 1024, outputs = 10;
    static constexpr std::size_t parameters = hidden * (inputs + outputs);  // 0.8 million
    static constexpr std::uint64_t batch = 32;                              // of one step, over all workers

    Perceptron();

    std::span<float> weights() { return weights_; }
    // Of this part of the step's batch, added up into the result: (parameters), divided by the batch.
    std::vector<float> gradient(std::int64_t step, std::uint64_t begin, std::uint64_t end) const;
    void update(std::span<const float> gradient);
    double norm() const;  // of the weights: both sides must come to the same

  private:
    void add_sample(std::uint64_t sample, std::vector<float>& gradient) const;

    static constexpr std::uint64_t samples = 2048;
    std::vector<float> inputs_;
    std::vector<float> weights_;
};

}  // namespace mastic::bench
