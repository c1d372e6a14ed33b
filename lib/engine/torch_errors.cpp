#include <mastic/engine/torch_errors.hpp>

#include <c10/util/Exception.h>

#include <mastic/core/error.hpp>

namespace mastic::engine {

void translate_torch_errors(const std::function<void()>& action) {
    try {
        action();
    } catch (const c10::Error& error) {
        const std::string message = error.what_without_backtrace();
        if (message.find("alloc") != message.npos) {
            throw Error(ExitCode::memory, "torch: " + message, "a smaller batch, micro-batch or model needs less");
        }
        throw Error(ExitCode::usage, "torch: " + message,
                    "the network cannot work on this data; check model and data options");
    }
}

}  // namespace mastic::engine
