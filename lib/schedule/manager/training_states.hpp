// From one state of a training to the next. Pure.
#pragma once

#include <string>

#include <mastic/schedule/manager/progress_watch.hpp>
#include <mastic/schedule/manager/state_directory.hpp>

namespace mastic::schedule {

struct TrainingFacts {
    std::size_t pilots = 0;
    Progress progress;
    bool pilot_was_done = false;  // one has ended with code 0
    int failures = 0;             // setbacks in a row with an error
    std::string last_failure;
};

struct NextState {
    TrainingState state = TrainingState::queued;
    std::string reason;  // empty: nothing has changed
};

NextState next_state(const Training& training, const TrainingFacts& facts, int most_failures);

}  // namespace mastic::schedule
