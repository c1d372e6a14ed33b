// Weights in the safetensors format (huggingface/safetensors, format as of 0.4): 8 bytes little-endian length of the
// header, the header as a JSON object name -> {dtype, shape, data_offsets}, then the data, row-major, without holes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <mastic/model/network.hpp>

namespace mastic::model {

// Written atomically. Tensors may be on any device and in any layout. Error(io); Error(usage) for an element type that
// the format does not know.
void write_weights(const std::filesystem::path& path, const NamedTensors& tensors,
                   const std::map<std::string, std::string>& metadata = {});

// Tensors on the CPU, in the order of the file. Everything the header says is checked against the size of the file
// before memory is allocated. Error(data) naming the file, the tensor and what is wrong.
NamedTensors read_weights(const std::filesystem::path& path);

}  // namespace mastic::model
