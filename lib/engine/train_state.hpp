// Everything that a training carries from one step to the next: weights, buffers, optimizer, position. Random numbers are
// no part of it: each step's generator is seeded with (seed, step, rank).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <mastic/checkpoint/state.hpp>
#include <mastic/data/distributed_sampler.hpp>
#include <mastic/model/network.hpp>
#include <mastic/optimizer/named_optimizer.hpp>
#include <mastic/report/run_record.hpp>

namespace mastic::engine {

// How the arithmetic was done; equal values make a resumed run bit-identical to one that was never stopped.
struct ArithmeticFacts {
    int world_size = 1;
    int threads = 1;
    std::string blas_core;
    bool operator==(const ArithmeticFacts&) const = default;
};

struct TrainState {
    std::shared_ptr<model::Network> network;
    std::unique_ptr<optimizer::NamedOptimizer> optimizer;
    std::int64_t step = 0;      // steps done
    std::uint64_t samples = 0;  // seen, over all ranks
    data::SamplerPosition position;
    std::optional<report::BestMetric> best;

    // Looks into the live tensors of weights and optimizer, which only an update changes; buffers, and all that is on a device, are
    // copied.
    checkpoint::State view(const ArithmeticFacts& facts) const;

    // Takes over what a checkpoint holds. Error(checkpoint) naming a tensor that is missing or has another shape or type.
    // Returns how the checkpoint's arithmetic was done.
    ArithmeticFacts restore(const checkpoint::State& stored);
};

}  // namespace mastic::engine
