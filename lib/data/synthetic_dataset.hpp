// Learnable random data of any layout, for tests and benchmarks. A sample is a function of (seed, id) alone.
//   classes:     x = prototype of the class + noise; classes in random order
//   regression:  y = W x, x random
//   tokens:      a random successor table is followed with probability 0.9, else any token
#pragma once

#include <cstdint>
#include <memory>

#include <mastic/data/dataset.hpp>

namespace mastic::data {

struct SyntheticOptions {
    std::uint64_t size = 10000;
    SampleLayout layout;  // int64 inputs: tokens, with targets of the same shape; classes > 0: classes; else
                          // regression
    std::uint64_t seed = 1;
    float noise = 1.0f;          // standard deviation; prototypes have 1
    std::uint64_t first_id = 0;  // a test set of the same task starts where the training set ends
};

// Error(usage) for a layout that is none of the three.
std::unique_ptr<Dataset> make_synthetic_dataset(const SyntheticOptions& options);

}  // namespace mastic::data
