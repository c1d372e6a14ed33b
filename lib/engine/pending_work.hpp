// What the last step has left to do, beyond the trainer of one generation: a member lost in the middle undoes none of it.
#pragma once

#include <cstdint>

namespace mastic::engine {

struct PendingWork {
    bool save = false;             // a checkpoint was asked for
    std::int64_t evaluation = -1;  // the step whose evaluation, or the save that goes with it, was begun and not completed
};

}  // namespace mastic::engine
