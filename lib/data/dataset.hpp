// A set of labelled samples, addressed by id 0..size()-1. Torch-free: batches are plain memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mastic/core/data_type.hpp>

namespace mastic::data {

using Shape = std::vector<std::int64_t>;  // without the batch dimension; images are (channels, height, width)
std::int64_t element_count(const Shape& shape);

// What one sample looks like. Inputs are float32 or int64 (tokens); targets are int64 (classes, tokens) or
// float32.
struct SampleLayout {
    Shape input_shape;
    DataType input_type = DataType::float32;
    Shape target_shape;  // empty: one class index
    DataType target_type = DataType::int64;
    std::int64_t classes = 0;  // 0: regression
};

// `count` samples, row-major: inputs (count, *input_shape), targets (count, *target_shape), and the ids they
// come from.
struct Batch {
    std::size_t count = 0;
    std::vector<std::uint64_t> ids;
    std::vector<std::byte> inputs;
    std::vector<std::byte> targets;
};

class Dataset {
  public:
    virtual ~Dataset() = default;
    virtual std::uint64_t size() const = 0;
    virtual const SampleLayout& layout() const = 0;
    // Fills `batch` with the samples `ids`, in that order. Thread-safe. Error(data) for an id out of range.
    virtual void read(std::span<const std::uint64_t> ids, Batch& batch) const = 0;
    virtual std::string description()
        const = 0;  // "60000 images 1x28x28, 10 classes, from train-images-idx3-ubyte.gz"
};

}  // namespace mastic::data
