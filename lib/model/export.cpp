#include <mastic/model/export.hpp>

#include <sstream>

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <mastic/core/error.hpp>
#include <mastic/core/file.hpp>
#include <mastic/model/initial_weights.hpp>
#include <mastic/model/script_network.hpp>

namespace mastic::model {

namespace {

namespace jit = torch::jit;

// Evaluation mode, without gradients, until the end of the scope.
class EvaluationScope {
  public:
    explicit EvaluationScope(Network& network) : network_(network), was_training_(network.is_training()) {
        network_.eval();
    }
    ~EvaluationScope() { network_.train(was_training_); }
    EvaluationScope(const EvaluationScope&) = delete;
    EvaluationScope& operator=(const EvaluationScope&) = delete;

  private:
    Network& network_;
    bool was_training_;
    torch::NoGradGuard no_grad_;
};

torch::Tensor random_inputs(std::int64_t count, const InputSpec& input, const Network& network) {
    std::vector<std::int64_t> shape = {count};
    shape.insert(shape.end(), input.shape.begin(), input.shape.end());
    const auto parameters = network.parameters();
    const auto options = parameters.empty() ? torch::TensorOptions(torch::kFloat) : parameters[0].options();
    // Its own generator: exporting must not move the random numbers of a training.
    auto generator = at::detail::createCPUGenerator(1);
    const auto values =
        input.tokens ? torch::randint(0, input.outputs, shape, generator, torch::TensorOptions(torch::kLong))
                     : torch::randn(shape, generator, torch::TensorOptions(torch::kFloat));
    return values.to(input.tokens ? options.dtype(torch::kLong).device(options.device()) : options);
}

// A script module with the submodules, parameters and buffers of `module`: the same tensors under the same names.
jit::Module mirror(const torch::nn::Module& module, const std::string& path,
                   const std::shared_ptr<jit::CompilationUnit>& unit) {
    jit::Module script(c10::QualifiedName("__torch__." + path), unit);
    script.register_attribute("training", c10::BoolType::get(), module.is_training());
    for (const auto& parameter : module.named_parameters(false)) {
        script.register_parameter(parameter.key(), parameter.value(), false);
    }
    for (const auto& buffer : module.named_buffers(false)) {
        script.register_buffer(buffer.key(), buffer.value());
    }
    for (const auto& child : module.named_children()) {
        // The type's name; a number alone would not be an identifier.
        script.register_module(child.key(), mirror(*child.value(), path + ".m_" + child.key(), unit));
    }
    return script;
}

// The trace holds the constant false where a layer asked for its mode; ask the module instead.
void follow_training_mode(jit::Graph& graph) {
    jit::Node* mode = nullptr;
    for (jit::Node* node : graph.block()->nodes()) {
        const bool normalises = node->kind() == c10::Symbol::fromQualString("aten::batch_norm");
        const bool drops = node->kind() == c10::Symbol::fromQualString("aten::dropout");
        if (normalises || drops) {
            if (mode == nullptr) {
                mode = graph.createGetAttr(graph.inputs().at(0), "training");
                mode->output()->setType(c10::BoolType::get());
                graph.prependNode(mode);
            }
            node->replaceInput(normalises ? 5 : 2, mode->output());  // the argument `training` or `train`
        }
    }
}

std::string trace(Network& network, const InputSpec& input) {
    auto unit = std::make_shared<jit::CompilationUnit>();
    jit::Module script = mirror(network, "mastic.Network", unit);
    const auto run = [&](jit::Stack inputs) { return jit::Stack{network.forward(inputs.at(0).toTensor())}; };
    const auto no_name = [](const torch::Tensor&) { return std::string(); };
    const auto traced =
        jit::tracer::trace({random_inputs(2, input, network)}, run, no_name, true, false, &script);
    const auto graph = traced.first->graph;
    follow_training_mode(*graph);
    script.type()->addMethod(
        unit->create_function(c10::QualifiedName(*script.type()->name(), "forward"), graph));
    std::ostringstream stream;
    script.save(stream);
    return std::move(stream).str();
}

void require_same_outputs(const std::string& file, Network& network, const InputSpec& input) {
    std::istringstream stream(file);
    jit::Module script = jit::load(stream);
    script.eval();
    const auto inputs = random_inputs(5, input, network);
    const auto expected = network.forward(inputs);
    const auto outputs = script.forward({inputs}).toTensor();
    if (outputs.sizes() != expected.sizes() || !torch::allclose(outputs, expected, 1e-4, 1e-5, true)) {
        throw Error(ExitCode::data, "the exported model answers differently from the trained one",
                    "export safetensors instead, and report this model");
    }
}

}  // namespace

void export_torchscript(Network& network, const InputSpec& input, const std::filesystem::path& path) {
    if (const auto* script = dynamic_cast<const ScriptNetwork*>(&network)) {
        write_file_atomically(path, std::string_view(script->serialized()));
        return;
    }
    const EvaluationScope evaluation(network);
    const std::string file = trace(network, input);
    require_same_outputs(file, network, input);
    write_file_atomically(path, std::string_view(file));
}

void export_safetensors(const Network& network, const std::filesystem::path& path) {
    write_weights(path, named_weights(network), {{"format", "pt"}});
}

}  // namespace mastic::model
