// Internal to lib/checkpoint: memory that holds a copy of a state and is reused for the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <mastic/checkpoint/state.hpp>

namespace mastic::checkpoint {

class Snapshot {
  public:
    // Makes room and touches every page. Throws Error(memory).
    void reserve(std::uint64_t bytes);
    // Replaces the content by a copy of `state`. Throws Error(usage) or Error(memory), and is empty then.
    void copy(const State& state, int threads);
    const State& state() const { return state_; }  // its entries lie in this object

  private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Free> memory_;
    std::uint64_t capacity_ = 0;
    State state_;
};

}  // namespace mastic::checkpoint
