// Element types of buffers, files and tensors: one enumeration for all folders.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mastic {

enum class DataType { float32, float64, float16, bfloat16, int8, uint8, int16, int32, int64, boolean };

std::size_t size_of(DataType type);  // bytes per element
const char* to_string(DataType type);
DataType parse_data_type(std::string_view name);  // throws Error(data)

}  // namespace mastic
