// Any TorchScript file as a Network.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <mastic/model/network.hpp>

namespace torch::jit {
struct Module;
}

namespace mastic::model {

// Parameters and buffers have the file's names and are the file's tensors: training this network trains the script. A
// tensor that the file holds under two names appears under the first. Throws Error(data) for a file that is not
// TorchScript or has no forward.
class ScriptNetwork : public Network {
  public:
    explicit ScriptNetwork(const std::filesystem::path& file);
    ~ScriptNetwork() override;

    // Error(data) if the script fails on this input or answers with something else than one tensor.
    torch::Tensor forward(torch::Tensor input) override;
    void train(bool on = true) override;
    // The file's form, with the weights as they are now.
    std::string serialized() const;

  private:
    std::filesystem::path file_;
    std::unique_ptr<torch::jit::Module> script_;
};

}  // namespace mastic::model
