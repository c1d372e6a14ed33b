// The values that an app keeps from step to step: where they are, and copies of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <mastic/checkpoint/state.hpp>
#include <mastic/comm/group.hpp>

namespace mastic::app {

class KeptState {
  public:
    // Throws Error(usage) for a name that is taken or no clean path.
    void add(const std::string& name, comm::BufferView values);

    const std::vector<comm::BufferView>& views() const { return views_; }
    std::uint64_t bytes() const;
    std::string layout() const;  // "weights: 20 x float64\n...", what all ranks must have

    // One copy of everything, in order; restore() takes such a copy back, and throws Error(collective) if it has another size.
    std::vector<std::byte> copy() const;
    void restore(std::span<const std::byte> copy);

    // `copy` outlives the result.
    checkpoint::State as_checkpoint(std::span<const std::byte> copy) const;
    // Throws Error(checkpoint) if something is missing or has another type or count.
    void restore(const checkpoint::State& stored);

  private:
    std::vector<std::string> names_;
    std::vector<comm::BufferView> views_;
};

}  // namespace mastic::app
