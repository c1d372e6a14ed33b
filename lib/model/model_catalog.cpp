#include <mastic/model/model_catalog.hpp>

#include <algorithm>
#include <vector>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::model {

std::span<const ModelDescription> model_catalog() {
    static const std::vector<ModelDescription> catalog = {
        {"mlp", "fully connected layers with ReLU; sizes in model.hidden (256, 128)"},
        {"lenet", "two 3x3 convolutions (32, 64), max pooling, two fully connected layers (128)"},
        {"resnet18", "residual network for 32x32 images, 4 stages of width 64..512, batch normalisation"},
        {"vgg-like", "six 3x3 convolutions, then two large fully connected layers (4096)"},
        {"transformer", "causal language model: 4 layers, d = 256, 8 heads, learned positions"},
    };
    return catalog;
}

void require_known_model(const std::string& name) {
    if (std::ranges::count(model_catalog(), name, &ModelDescription::name) > 0) {
        return;
    }
    std::vector<std::string> names;
    std::string list;
    for (const ModelDescription& model : model_catalog()) {
        names.push_back(model.name);
        list += (list.empty() ? "" : ", ") + model.name;
    }
    const std::string nearest = nearest_word(name, names);
    throw Error(ExitCode::usage, "there is no model '" + name + "'",
                (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") + "known models: " + list +
                    "; a TorchScript file goes into model.file");
}

}  // namespace mastic::model
