// A pilot: a Slurm job on one node that takes part in a training. Its name says whose it is, so the list of jobs alone tells a
// manager that starts anew which pilots there are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mastic::schedule {

struct Pilot {
    enum class State {
        pending,  // waits for its node
        running,  // its job runs; whether it computes already, the training tells
        leaving,  // told to go
    };
    std::string job = {};
    std::string training = {};
    std::string node = {};  // that it asks for, or runs on
    State state = State::pending;
    double since_s = 0;      // of the state
    double submitted_s = 0;  // or when it was first seen
    bool started = false;    // it runs, or has run
    double end_s = 0;        // by its time limit, while it runs; 0: not known
    std::string reason = {};      // pending: what Slurm says it waits for
};

// "mastic-fashion@3f9c2a01": a training of the state directory with that id.
std::string pilot_name(std::string_view training, std::string_view state_id);
// Empty: a job of that name is no pilot of that state directory.
std::optional<std::string> training_of_pilot(std::string_view job_name, std::string_view state_id);

}  // namespace mastic::schedule
