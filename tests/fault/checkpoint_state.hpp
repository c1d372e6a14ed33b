// A small training state whose every byte follows from the step, so that a restored one can be judged without
// its original: what the checkpoint tests save.
#pragma once

#include <cstdint>
#include <string>

#include <mastic/checkpoint/store.hpp>

namespace mastic::test {

// What writer `writer` of `writers` stores at a step: its rows of "model/fc.weight" (192 x 96, float32), its
// own generator state, and, if it is writer 0, the small tensors. About 80 KB in all.
checkpoint::State state_of_step(std::uint64_t step, int writer, int writers);

// Empty if the restored state is exactly the one that all writers stored at this step; else what differs.
std::string difference_from_step(const checkpoint::State& restored, std::uint64_t step, int writers);

// Small images, so that the state needs several; keeps the last two.
checkpoint::StoreOptions small_store_options();

// All writers and the commit, one after the other.
checkpoint::CommitReport save_step(const checkpoint::CheckpointStore& store, std::uint64_t step, int writers);

}  // namespace mastic::test
