// The border between torch's element types and mastic's.
#pragma once

#include <cstddef>
#include <span>

#include <torch/types.h>

#include <mastic/core/data_type.hpp>

namespace mastic::model {

DataType data_type_of(torch::ScalarType type);  // Error(usage) for types that mastic does not store
torch::ScalarType scalar_type_of(DataType type);

// The memory of a contiguous CPU tensor.
std::span<std::byte> bytes_of(const torch::Tensor& tensor);

}  // namespace mastic::model
