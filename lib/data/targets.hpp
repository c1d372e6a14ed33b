// From stored numbers to what a loss needs: class indices as int64, or values as float32.
#pragma once

#include <string>

#include <mastic/data/array.hpp>

namespace mastic::data {

// (samples) or (samples, 1) whole numbers of any type -> int64 (samples). `classes` 0 is replaced by the
// largest label + 1. Error(data) names the first sample whose label is no whole number or not below
// `classes`.
Array class_targets(const Array& stored, std::int64_t& classes, const std::string& source);

// (samples, ...) numbers of any type -> float32; (samples) becomes (samples, 1). Error(data) names the first
// sample that is not finite.
Array value_targets(const Array& stored, const std::string& source);

}  // namespace mastic::data
