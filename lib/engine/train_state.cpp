#include <mastic/engine/train_state.hpp>

#include <torch/torch.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include <mastic/core/error.hpp>
#include <mastic/model/initial_weights.hpp>
#include <mastic/model/tensor_types.hpp>

namespace mastic::engine {
namespace {

constexpr const char* weights_prefix = "model/";
constexpr const char* optimizer_prefix = "optimizer/";

checkpoint::StateEntry entry_of(const std::string& name, const torch::Tensor& tensor) {
    const torch::Tensor whole = tensor.detach().cpu().contiguous();
    auto owner = std::make_shared<torch::Tensor>(whole);
    return checkpoint::whole_entry(name, model::data_type_of(whole.scalar_type()), whole.sizes().vec(),
                                   model::bytes_of(whole), owner);
}

const checkpoint::StateEntry& find_entry(const checkpoint::State& state, const std::string& name) {
    const checkpoint::StateEntry* entry = state.find(name);
    if (entry == nullptr) {
        throw Error(ExitCode::checkpoint, "the checkpoint has no tensor '" + name + "'",
                    "it belongs to another model; choose another --run.dir");
    }
    return *entry;
}

torch::Tensor tensor_of(const checkpoint::StateEntry& entry) {
    torch::Tensor tensor = torch::empty(entry.shape, torch::TensorOptions(model::scalar_type_of(entry.type)));
    std::memcpy(tensor.data_ptr(), entry.bytes.data(), entry.bytes.size());
    return tensor;
}

void copy_into(torch::Tensor target, const checkpoint::StateEntry& entry) {
    if (entry.shape != target.sizes().vec() || model::scalar_type_of(entry.type) != target.scalar_type()) {
        throw Error(ExitCode::checkpoint, "tensor '" + entry.name + "' has another shape or type in the checkpoint",
                    "it belongs to another model; choose another --run.dir");
    }
    const torch::NoGradGuard no_grad;
    target.copy_(tensor_of(entry));
}

nlohmann::json facts_of(const TrainState& state, const ArithmeticFacts& arithmetic) {
    nlohmann::json facts = {
        {"step", state.step},
        {"samples", state.samples},
        {"epoch", state.position.epoch},
        {"consumed", state.position.consumed},
        {"optimizer_steps", state.optimizer->steps()},
        {"world_size", arithmetic.world_size},
        {"threads", arithmetic.threads},
        {"blas_core", arithmetic.blas_core},
    };
    if (state.best) {
        facts["best"] = {{"name", state.best->name}, {"value", state.best->value}, {"step", state.best->step}};
    }
    return facts;
}

}  // namespace

checkpoint::State TrainState::view(const ArithmeticFacts& facts) const {
    checkpoint::State state;
    for (const auto& [name, tensor] : model::named_weights(*network)) {
        // Buffers change in the forward pass, while the copy of a checkpoint may still be under way.
        const bool changes = !tensor.requires_grad() && tensor.device().is_cpu();
        state.entries.push_back(entry_of(weights_prefix + name, changes ? tensor.clone() : tensor));
    }
    for (const auto& [name, tensor] : optimizer->state().tensors) {
        state.entries.push_back(entry_of(optimizer_prefix + name, tensor));
    }
    state.facts = facts_of(*this, facts).dump();
    return state;
}

ArithmeticFacts TrainState::restore(const checkpoint::State& stored) {
    for (const auto& [name, tensor] : model::named_weights(*network)) {
        copy_into(tensor, find_entry(stored, weights_prefix + name));
    }
    optimizer::OptimizerState slots;
    for (const checkpoint::StateEntry& entry : stored.entries) {
        if (entry.name.starts_with(optimizer_prefix)) {
            slots.tensors.emplace_back(entry.name.substr(std::strlen(optimizer_prefix)), tensor_of(entry));
        }
    }
    try {
        const nlohmann::json facts = nlohmann::json::parse(stored.facts);
        slots.steps = facts.at("optimizer_steps");
        optimizer->load_state(slots);
        step = facts.at("step");
        samples = facts.at("samples");
        position = {facts.at("epoch"), facts.at("consumed")};
        if (facts.contains("best")) {
            const auto& b = facts["best"];
            best = report::BestMetric{b.at("name"), b.at("value"), b.at("step")};
        }
        return {facts.at("world_size"), facts.at("threads"), facts.at("blas_core")};
    } catch (const nlohmann::json::exception& error) {
        throw Error(ExitCode::checkpoint, std::string("the facts of the checkpoint are incomplete: ") + error.what());
    }
}

}  // namespace mastic::engine
