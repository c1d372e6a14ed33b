// IDX, the format of MNIST and its relatives: two zero bytes, a type code, the number of dimensions, one
// 32-bit extent per dimension, then the elements; all big-endian. Source: Y. LeCun, C. Cortes, C. Burges,
// "The MNIST database".
#pragma once

#include <filesystem>
#include <span>

#include <mastic/data/array.hpp>

namespace mastic::data {

// Reads any element type (u8, i8, i16, i32, f32, f64), gzip or plain. Error(data) says what was found instead
// of IDX, or by how much the header and the size of the data disagree.
Array read_idx_file(const std::filesystem::path& path);

// True if `first_bytes` can begin an IDX file.
bool is_idx_magic(std::span<const std::byte> first_bytes);

}  // namespace mastic::data
