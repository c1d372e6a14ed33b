// Operations made of others.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <mastic/comm/operation.hpp>

namespace mastic::comm {

// One after the other. Each starts when the one before is complete.
std::unique_ptr<Operation> make_sequence(std::vector<std::unique_ptr<Operation>> operations);

// Calls `function` once, and is complete.
std::unique_ptr<Operation> make_call(std::function<void()> function);

}  // namespace mastic::comm
