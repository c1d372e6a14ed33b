#include <mastic/model/script_network.hpp>

#include <sstream>
#include <unordered_set>

#include <torch/script.h>
#include <torch/torch.h>

#include <mastic/core/error.hpp>

namespace mastic::model {

namespace {

// "a.b.weight" -> the module that `root` has as a.b, made where it is missing, and "weight".
std::pair<torch::nn::Module*, std::string> descend(torch::nn::Module& root, const std::string& dotted_name) {
    torch::nn::Module* module = &root;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = dotted_name.find('.', begin)) != std::string::npos; begin = dot + 1) {
        const std::string child = dotted_name.substr(begin, dot - begin);
        const auto children = module->named_children();
        const auto* found = children.find(child);
        module = found != nullptr
                     ? found->get()
                     : module->register_module(child, std::make_shared<torch::nn::Module>()).get();
    }
    return {module, dotted_name.substr(begin)};
}

torch::jit::Module load_script(const std::filesystem::path& file) {
    try {
        return torch::jit::load(file.string());
    } catch (const std::exception& error) {
        const std::string reason(error.what());
        throw Error(ExitCode::data,
                    file.string() + " is not a TorchScript file: " + reason.substr(0, reason.find('\n')),
                    "make one with torch.jit.script(model).save(FILE), or with mastic-train export");
    }
}

}  // namespace

ScriptNetwork::ScriptNetwork(const std::filesystem::path& file)
    : file_(file), script_(std::make_unique<torch::jit::Module>(load_script(file))) {
    if (!script_->find_method("forward")) {
        throw Error(ExitCode::data, file.string() + " has no method forward",
                    "export the whole model, not only its weights");
    }
    std::unordered_set<const void*> seen;
    for (const auto& parameter : script_->named_parameters()) {
        if (seen.insert(parameter.value.unsafeGetTensorImpl()).second) {
            const auto [module, name] = descend(*this, parameter.name);
            module->register_parameter(name, parameter.value, parameter.value.requires_grad());
        }
    }
    for (const auto& buffer : script_->named_buffers()) {
        if (seen.insert(buffer.value.unsafeGetTensorImpl()).second) {
            const auto [module, name] = descend(*this, buffer.name);
            module->register_buffer(name, buffer.value);
        }
    }
    train();
}

ScriptNetwork::~ScriptNetwork() = default;

torch::Tensor ScriptNetwork::forward(torch::Tensor input) {
    torch::jit::IValue output;
    try {
        output = script_->forward({std::move(input)});
    } catch (const std::exception& error) {
        throw Error(ExitCode::data, file_.string() + " fails on this input: " + error.what(),
                    "check that the model was exported for data of this shape and type");
    }
    if (!output.isTensor()) {
        throw Error(ExitCode::data,
                    file_.string() + " answers with " + output.tagKind() + " instead of one tensor",
                    "export a model whose forward returns one tensor");
    }
    return output.toTensor();
}

void ScriptNetwork::train(bool on) {
    Network::train(on);
    script_->train(on);
}

std::string ScriptNetwork::serialized() const {
    std::ostringstream stream;
    script_->save(stream);
    return std::move(stream).str();
}

}  // namespace mastic::model
