// The steps of elastic_worker, as the worker takes them and as a test expects them.
#pragma once

#include <cstdint>

#include <mastic/core/random.hpp>

namespace mastic::test {

// What the member of this rank adds to the sum of a step.
inline std::int64_t share_of(std::int64_t step, int rank, int size) {
    constexpr int units = 60;
    std::int64_t sum = 0;
    for (int unit = rank; unit < units; unit += size) {
        sum += static_cast<std::int64_t>(
            CounterRandom::mix(static_cast<std::uint64_t>(step) * 1000 + static_cast<std::uint64_t>(unit)) >>
            12);
    }
    return sum;
}

struct Sums {
    std::int64_t step = 0;
    std::uint64_t hash = 0;

    void add(std::int64_t total) {
        ++step;
        hash = CounterRandom::mix(hash ^ static_cast<std::uint64_t>(total));
    }
};

}  // namespace mastic::test
