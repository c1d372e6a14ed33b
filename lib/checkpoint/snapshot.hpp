// Internal to lib/checkpoint: memory that holds a copy of a state and is reused for the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <mastic/checkpoint/state.hpp>

namespace mastic::checkpoint {

class Snapshot {
  public:
    // Makes room and touches every page. Throws Error(memory).
    void reserve(std::uint64_t bytes);
    // Lays out a copy of `state`. Throws Error(usage) or Error(memory), and is empty then.
    void prepare(const State& state);
    // Fills it, and lets go of the entries' owners.
    void copy(int threads);
    const State& state() const { return state_; }  // its entries lie in this object

  private:
    struct Copy {
        std::byte* to;
        const std::byte* from;
        std::uint64_t count;
    };
    static void run(const std::vector<Copy>& copies);
    static std::vector<std::vector<Copy>> share_out(const std::vector<Copy>& copies, std::size_t parts);

    struct Free {
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Free> memory_;
    std::uint64_t capacity_ = 0;
    State state_;                // views memory_
    State source_;               // keeps what is still to be copied alive
    std::vector<Copy> copies_;   // still to be done
};

}  // namespace mastic::checkpoint
