// Options of the commands that talk to a manager: an order, and how to ask.
#pragma once

#include <string>

#include <mastic/config/schema.hpp>
#include <mastic/core/duration.hpp>
#include <mastic/schedule/manager/training_order.hpp>

namespace mastic::schedule {

struct DeskOptions {
    TrainingOrder training;
    std::string sweep;  // file; "": none
    int keep_best = 0;  // 0: all
    bool unchecked = false;
    bool watch = false;
    bool undo = false;
    bool manager = false;
    Seconds wait{30};
};

// `options` must outlive the schema.
void declare_desk_options(config::Schema& schema, DeskOptions& options);

}  // namespace mastic::schedule
