// Starting from weights that exist: fine-tuning.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <mastic/model/network.hpp>
#include <mastic/model/weights_file.hpp>

namespace mastic::model {

// Parameters, then buffers, by name: what a weights file holds.
NamedTensors named_weights(const Network& network);

struct LoadReport {
    std::size_t loaded = 0;               // tensors copied
    std::vector<std::string> missing;     // in the network, not in the file: they keep their values
    std::vector<std::string> unexpected;  // in the file, not in the network
    std::vector<std::string> misshapen;   // "fc.weight: (10, 512) in the network, (1000, 512) in the file"
};

// Copies by name from a safetensors file, converting the element type. Strict: Error(data) listing what is missing,
// unexpected or misshapen, with the network untouched. Not strict (another head, for example): copies what fits and
// reports the rest; Error(data) if nothing fits.
LoadReport load_initial_weights(Network& network, const std::filesystem::path& path, bool strict = true);

}  // namespace mastic::model
