// What the members of an elastic run tell one another of a step beside its gradients: a member that did not take part in it, or
// not to its end, applies it all the same, and may be the one that writes the history later.
#pragma once

#include <cstdint>

namespace mastic::engine {

struct AppliedStep {
    std::uint64_t samples = 0;  // of this step, over all ranks
    double learning_rate = 0;
    double loss = 0;
    std::uint64_t global_batch = 0;
    std::int64_t world_size = 0;
};

}  // namespace mastic::engine
