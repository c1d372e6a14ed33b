// Makes the networks of the catalog (model_catalog.hpp), and those of TorchScript files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <mastic/model/network.hpp>

namespace mastic::model {

struct ModelOptions {
    std::string name = "lenet";
    std::filesystem::path file = {};                // a TorchScript file: takes the place of `name`
    std::filesystem::path init = {};                // safetensors with initial weights (fine-tuning)
    bool init_strict = true;                        // false: load what fits, say what does not
    std::vector<std::int64_t> hidden = {256, 128};  // mlp: sizes of the hidden layers
    double dropout = 0.0;                           // mlp, vgg-like, transformer: probability
    std::int64_t width =
        0;  // resnet18: first stage; vgg-like: large layers; transformer: d. 0: as in the table
    std::int64_t depth = 0;  // transformer: layers. 0: as in the table
    std::int64_t heads = 8;  // transformer
};

// A network for this data: from `options.file` if that is set, else from the table. Its weights are drawn from torch's
// default generator, so torch::manual_seed decides them, unless `options.init` replaces them. Throws Error(usage) for an
// unknown name (with the nearest one), for data that this network cannot take, and for options out of range.
std::shared_ptr<Network> create_network(const ModelOptions& options, const InputSpec& input);

// Scalars in the trainable parameters.
std::int64_t parameter_count(const Network& network);

}  // namespace mastic::model
