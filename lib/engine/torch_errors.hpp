// torch's exceptions as mastic's, without the list of stack frames that torch puts into the message.
#pragma once

#include <functional>

namespace mastic::engine {

// Runs `action`. Error(usage) for what torch refuses: sizes that do not fit, types that do not go together.
// Error(memory) if torch cannot allocate.
void translate_torch_errors(const std::function<void()>& action);

}  // namespace mastic::engine
