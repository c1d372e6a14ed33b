// From options to a Dataset: which files, which format, what the numbers mean.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mastic/data/dataset.hpp>

namespace mastic::data {

struct DatasetOptions {
    std::string format = "auto";  // auto (by content), idx, npy, csv, hdf5, bytes (next-token), synthetic
    std::string inputs;           // path
    std::string targets;          // path; CSV, next-token: unused; HDF5: empty means the file of the inputs
    std::string input_name = "inputs";  // HDF5: dataset in the file
    std::string target_name =
        "targets";  // HDF5: dataset; CSV: label column by name or index, the last if none is so named
    std::string task = "classify";  // classify, regress, next-token
    std::vector<double> mean;       // per channel or one for all; applied after scaling
    std::vector<double> stddev;
    std::vector<std::int64_t>
        input_shape;                   // of one sample; empty: as stored, (N, H, W) become N images (1, H, W)
    std::int64_t classes = 0;          // 0: the largest label (token) + 1; bytes: 256
    std::int64_t limit = 0;            // only the first N samples; synthetic: how many there are
    std::int64_t sequence_length = 0;  // next-token on a stream of tokens (rows keep their length)
    std::uint64_t seed = 1;            // synthetic
    bool scale = true;                 // uint8 inputs to [0, 1]
    bool with_targets = true;          // false: for prediction, batches have no targets
};

// All of the data is checked here: counts, shapes, labels, finite numbers. Errors are Error(data) with file
// and sample, or Error(usage) for options that do not fit together.
std::unique_ptr<Dataset> open_dataset(const DatasetOptions& options);

}  // namespace mastic::data
