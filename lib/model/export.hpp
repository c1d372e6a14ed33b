// A trained network for other programs.
#pragma once

#include <filesystem>

#include <mastic/model/network.hpp>

namespace mastic::model {

// A TorchScript file for any batch size, written atomically. The network is traced in evaluation mode; batch
// normalisation and dropout follow train() and eval() in the file as they do here. Before anything is written the file
// is loaded again and its outputs compared at another batch size; Error(data) if they differ. A ScriptNetwork is saved
// as it is. The network's mode is left as it was.
void export_torchscript(Network& network, const InputSpec& input, const std::filesystem::path& path);

// Parameters and buffers as safetensors, which load_initial_weights reads.
void export_safetensors(const Network& network, const std::filesystem::path& path);

}  // namespace mastic::model
