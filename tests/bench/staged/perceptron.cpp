#include "bench/staged/perceptron.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <mastic/core/random.hpp>

namespace mastic::bench {

Perceptron::Perceptron() : inputs_(samples * inputs), weights_(parameters) {
    CounterRandom random(1);
    std::ranges::generate(inputs_, [&] { return static_cast<float>(random.uniform()); });
    std::ranges::generate(weights_, [&] { return static_cast<float>(0.05 * (random.uniform() - 0.5)); });
}

std::vector<float> Perceptron::gradient(std::int64_t step, std::uint64_t begin, std::uint64_t end) const {
    std::vector<float> gradient(parameters);
    for (std::uint64_t i = begin; i < end; ++i) {
        add_sample((static_cast<std::uint64_t>(step) * batch + i) % samples, gradient);
    }
    return gradient;
}

void Perceptron::add_sample(std::uint64_t sample, std::vector<float>& gradient) const {
    const float* x = &inputs_[sample * inputs];
    const float* second =
        &weights_[hidden * inputs];  // (outputs, hidden), behind the first layer's (hidden, inputs)
    std::array<float, hidden> h, from_above{};
    for (std::size_t j = 0; j < hidden; ++j) {
        h[j] = std::max(0.0f, std::inner_product(x, x + inputs, &weights_[j * inputs], 0.0f));
    }
    std::array<float, outputs> o;
    for (std::size_t k = 0; k < outputs; ++k) {
        o[k] = std::exp(std::inner_product(h.begin(), h.end(), second + k * hidden, 0.0f));
    }
    const float sum = std::accumulate(o.begin(), o.end(), 0.0f);
    for (std::size_t k = 0; k < outputs; ++k) {
        const float error = (o[k] / sum - (k == sample % outputs ? 1.0f : 0.0f)) / batch;
        for (std::size_t j = 0; j < hidden; ++j) {
            gradient[hidden * inputs + k * hidden + j] += error * h[j];
            from_above[j] += error * second[k * hidden + j];
        }
    }
    for (std::size_t j = 0; j < hidden; ++j) {
        if (h[j] > 0) {
            for (std::size_t i = 0; i < inputs; ++i) {
                gradient[j * inputs + i] += from_above[j] * x[i];
            }
        }
    }
}

void Perceptron::update(std::span<const float> gradient) {
    for (std::size_t i = 0; i < parameters; ++i) {
        weights_[i] -= 0.05f * gradient[i];
    }
}

double Perceptron::norm() const {
    double sum = 0;
    for (const float weight : weights_) {
        sum += static_cast<double>(weight) * static_cast<double>(weight);
    }
    return std::sqrt(sum);
}

}  // namespace mastic::bench
