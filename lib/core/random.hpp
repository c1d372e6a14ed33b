// Random numbers that are the same on every machine and standard library, and whose state is two integers.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace mastic {

// SplitMix64 (Steele, Lea, Flood 2014): a counter hashed. Any (seed, counter) can be reached at once, so the
// draw for "epoch 3, sample 17" needs no history.
class CounterRandom {
  public:
    explicit CounterRandom(std::uint64_t seed, std::uint64_t counter = 0) : seed_(seed), counter_(counter) {}

    std::uint64_t next() { return mix(seed_ + ++counter_ * 0x9E3779B97F4A7C15ull); }
    // Uniform in [0, bound), without bias (Lemire 2019); bound > 0.
    std::uint64_t below(std::uint64_t bound) {
        __extension__ using Wide = unsigned __int128;
        for (;;) {
            const Wide product = Wide(next()) * bound;
            const auto low = static_cast<std::uint64_t>(product);
            if (low >= bound || low >= -bound % bound) {
                return static_cast<std::uint64_t>(product >> 64);
            }
        }
    }
    // Uniform in [0, 1), 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    // A seed for a sub-stream, so that streams of different purpose never share draws.
    static std::uint64_t derive(std::uint64_t seed, std::uint64_t stream) {
        return mix(mix(seed) ^ mix(~stream));
    }

  private:
    std::uint64_t seed_;
    std::uint64_t counter_;
};

// A uniformly random permutation of 0..count-1 (Fisher-Yates).
inline std::vector<std::uint64_t> random_permutation(std::uint64_t count, CounterRandom random) {
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    for (std::uint64_t i = count; i > 1; --i) {
        std::swap(order[i - 1], order[random.below(i)]);
    }
    return order;
}

}  // namespace mastic
