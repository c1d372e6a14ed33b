// The networks that mastic knows by name: for help texts and messages. registry.hpp makes them.
#pragma once

#include <span>
#include <string>

namespace mastic::model {

struct ModelDescription {
    std::string name;
    std::string description;  // one line, with the defaults
};

std::span<const ModelDescription> model_catalog();

// Throws Error(usage), with the nearest name, if there is no such network.
void require_known_model(const std::string& name);

}  // namespace mastic::model
