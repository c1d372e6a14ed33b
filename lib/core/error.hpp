// The one exception type of mastic. At the edge of a program it becomes one message and one exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace mastic {

// Exit codes, the same in all programs. `srun` may hide them, so run.json repeats the code.
enum class ExitCode : int {
    done = 0,
    usage = 2,        // command line or configuration
    data = 3,         // input data
    environment = 4,  // MPI singleton, GPU, MPS, PMI
    io = 5,           // full disk, read-only, lock
    checkpoint = 6,   // checkpoints exist but none is usable
    collective = 7,   // mismatch, stall, lost rank
    non_finite = 8,   // loss or gradient is NaN or infinite
    memory = 9,       // out of memory
    requeue = 75,     // stopped early with a valid checkpoint: please requeue
};

// The name that run.json and messages use, for example "collective".
const char* to_string(ExitCode code);

// `message` says what happened and where; `hint` says what to do next and may be empty.
class Error : public std::runtime_error {
  public:
    Error(ExitCode code, const std::string& message, std::string hint = "");

    ExitCode code() const { return code_; }
    const std::string& hint() const { return hint_; }
    // "MESSAGE\n  hint: HINT", or MESSAGE alone.
    std::string full_message() const;

  private:
    ExitCode code_;
    std::string hint_;
};

}  // namespace mastic
