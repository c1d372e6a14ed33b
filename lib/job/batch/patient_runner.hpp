// A controller of Slurm that is being restarted, or replaced by its backup, is away for some minutes.
#pragma once

#include <functional>
#include <string>

#include <mastic/core/command.hpp>
#include <mastic/core/duration.hpp>

namespace mastic::job {

struct Patience {
    Seconds limit{600};  // in all, over all commands of the runner
    Seconds pause{5};
    std::function<void(Seconds)> sleep = {};  // empty: really
};

// Runs commands as `run` does, and a command that did not reach the controller again after a pause. A question whose answer
// was lost is asked again; an sbatch may have been obeyed and is not. `tell` gets one sentence when the waiting begins.
CommandRunner patient_runner(CommandRunner run, std::function<void(const std::string&)> tell, Patience patience = {});

}  // namespace mastic::job
