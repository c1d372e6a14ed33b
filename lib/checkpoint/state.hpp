// The state of a training as bytes with names: what a checkpoint stores. No torch here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/data_type.hpp>

namespace mastic::checkpoint {

// One tensor, or a slice of it. `name` is the path inside the image: "model/conv1.weight",
// "optimizer/momentum_buffer/conv1.weight", "rng/rank-3". Row-major. `global_shape` and `offset` say which
// slice of the whole tensor this is (offset all zero and shape == global_shape: all of it).
struct StateEntry {
    std::string name;
    DataType type = DataType::float32;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> global_shape;
    std::vector<std::int64_t> offset;
    std::span<const std::byte> bytes;   // no alignment is promised: copy with memcpy
    std::shared_ptr<const void> owner;  // keeps `bytes` alive; may be null when the caller does

    bool is_slice() const { return shape != global_shape; }
};

// A tensor stored whole.
StateEntry whole_entry(std::string name, DataType type, std::vector<std::int64_t> shape,
                       std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr);

struct State {
    std::vector<StateEntry> entries;
    // Small facts, as a JSON text: step, samples seen, epoch, sampler position, world size, seeds, best
    // metric, versions.
    std::string facts = "{}";

    std::uint64_t bytes() const;
    // The entry of this name, or null.
    const StateEntry* find(std::string_view name) const;
};

// Throws Error(usage) naming the entry if its name is no clean path ("a//b", "/a", "a/../b", a control
// character), its three shapes do not fit together, or `bytes` is not exactly the slice.
void check_entry(const StateEntry& entry);

}  // namespace mastic::checkpoint
