#include <mastic/engine/batch_scaling.hpp>

#include <cmath>
#include <string>

#include <mastic/core/error.hpp>

namespace mastic::engine {

BatchScaling parse_batch_scaling(std::string_view name) {
    if (name == "none") {
        return BatchScaling::none;
    }
    if (name == "linear") {
        return BatchScaling::linear;
    }
    if (name == "sqrt") {
        return BatchScaling::sqrt;
    }
    throw Error(ExitCode::usage, "unknown scaling of the batch: " + std::string(name), "one of none, linear, sqrt");
}

std::uint64_t scaled_batch(BatchScaling scaling, std::uint64_t batch, std::size_t members) {
    return scaling == BatchScaling::none ? batch : batch * members;
}

double scaled_rate(BatchScaling scaling, std::size_t members) {
    const auto count = static_cast<double>(members);
    switch (scaling) {
        case BatchScaling::none:
            return 1.0;
        case BatchScaling::linear:
            return count;
        case BatchScaling::sqrt:
            return std::sqrt(count);
    }
    return 1.0;
}

}  // namespace mastic::engine
