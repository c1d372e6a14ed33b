// Outputs of a network, sample by sample, as CSV or HDF5.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace mastic::engine {

class PredictionFile {
  public:
    virtual ~PredictionFile() = default;
    // `rows` samples of `columns` values, row-major. With `classes`, the index of the largest value is stored too.
    virtual void append(const std::vector<float>& values, std::size_t rows, std::size_t columns) = 0;
    // Puts the file in place, whole.
    virtual void close() = 0;
};

// By the ending: .csv or .h5 / .hdf5. Error(usage) for another one.
std::unique_ptr<PredictionFile> create_prediction_file(const std::filesystem::path& path, bool classes);

}  // namespace mastic::engine
