// N-dimensional data of one element type: what every reader of a file returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mastic/core/data_type.hpp>
#include <mastic/data/dataset.hpp>

namespace mastic::data {

// `bytes` is row-major, in this machine's byte order, and holds exactly the elements of `shape`; it may be
// unaligned (a mapped file), so elements are read with load_element. The first dimension counts samples.
struct Array {
    DataType type = DataType::float32;
    Shape shape;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  // keeps `bytes` alive

    std::int64_t samples() const { return shape.empty() ? 0 : shape[0]; }
    Shape sample_shape() const { return shape.empty() ? Shape{} : Shape(shape.begin() + 1, shape.end()); }
};

Array make_array(DataType type, Shape shape, std::vector<std::byte> bytes);

// "60000x28x28"; "scalar" without dimensions.
std::string to_string(const Shape& shape);

// What `shape` takes in memory. Error(data) naming `source` for a negative dimension or more than 2^62 bytes:
// headers are not to be trusted.
std::uint64_t byte_count(const Shape& shape, std::size_t element_size, const std::string& source);

}  // namespace mastic::data
