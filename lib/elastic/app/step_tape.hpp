// The results of the collectives of one step, in order: recorded where the step was taken, played where it is taken again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mastic::app {

class StepTape {
  public:
    void record(int size);  // begins a step, of so many ranks; what was recorded before is forgotten
    // Begins to play what take() has given on another rank; returns the number of ranks it had. `recorded` outlives the step.
    int play(std::span<const std::byte> recorded);
    void stop();

    bool replays() const { return mode_ == Mode::play; }
    // A collective has this result, or gets the one on the tape. Throws Error(collective) if the step does not fit the tape.
    void pass(std::span<std::byte> result);
    // What was recorded.
    std::vector<std::byte> take();
    bool at_end() const { return rest_.empty(); }  // of what is played

  private:
    enum class Mode { off, record, play };
    Mode mode_ = Mode::off;
    std::vector<std::byte> recorded_;
    std::span<const std::byte> rest_;
};

}  // namespace mastic::app
