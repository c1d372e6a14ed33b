#include <mastic/model/initial_weights.hpp>

#include <map>

#include <torch/torch.h>

#include <mastic/core/error.hpp>
#include <mastic/model/networks.hpp>

namespace mastic::model {

namespace {

std::string list_text(const char* title, const std::vector<std::string>& items) {
    constexpr std::size_t shown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(items.size(), shown); ++i) {
        text += (i == 0 ? "" : "; ") + items[i];
    }
    if (items.size() > shown) {
        text += "; and " + std::to_string(items.size() - shown) + " more";
    }
    return items.empty() ? "" : std::string("\n  ") + title + ": " + text;
}

}  // namespace

NamedTensors named_weights(const Network& network) {
    NamedTensors weights;
    for (const auto& parameter : network.named_parameters()) {
        weights.emplace_back(parameter.key(), parameter.value());
    }
    for (const auto& buffer : network.named_buffers()) {
        weights.emplace_back(buffer.key(), buffer.value());
    }
    return weights;
}

LoadReport load_initial_weights(Network& network, const std::filesystem::path& path, bool strict) {
    std::map<std::string, torch::Tensor> in_file;
    for (auto& [name, tensor] : read_weights(path)) {
        in_file.emplace(name, tensor);
    }
    LoadReport report;
    std::vector<std::pair<torch::Tensor, torch::Tensor>> copies;  // to, from
    for (auto& [name, tensor] : named_weights(network)) {
        const auto found = in_file.extract(name);
        if (found.empty()) {
            report.missing.push_back(name);
        } else if (found.mapped().sizes() != tensor.sizes()) {
            report.misshapen.push_back(name + ": " + shape_text(tensor.sizes()) + " in the network, " +
                                       shape_text(found.mapped().sizes()) + " in the file");
        } else {
            copies.emplace_back(tensor, found.mapped());
        }
    }
    for (const auto& entry : in_file) {
        report.unexpected.push_back(entry.first);
    }
    const bool complete = report.missing.empty() && report.unexpected.empty() && report.misshapen.empty();
    if (copies.empty() || (strict && !complete)) {
        throw Error(ExitCode::data,
                    path.string() + " does not fit this model:" + list_text("missing", report.missing) +
                        list_text("unexpected", report.unexpected) + list_text("misshapen", report.misshapen),
                    copies.empty() ? "is it a file of the same model? compare the names"
                                   : "model.init_strict = false loads the " + std::to_string(copies.size()) +
                                         " tensors that fit");
    }
    torch::NoGradGuard no_grad;
    for (auto& [to, from] : copies) {
        to.copy_(from);
    }
    report.loaded = copies.size();
    return report;
}

}  // namespace mastic::model
