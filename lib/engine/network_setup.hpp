// From the options of a training to its network, optimizer and schedule.
#pragma once

#include <memory>

#include <mastic/engine/front/train_options.hpp>
#include <mastic/model/network.hpp>
#include <mastic/optimizer/learning_rate_schedule.hpp>
#include <mastic/optimizer/named_optimizer.hpp>

namespace mastic::engine {

// Seeded with run.seed, so all ranks get the same weights. float64 if train.precision says so.
std::shared_ptr<model::Network> make_network(const TrainOptions& options, const model::InputSpec& input);
// Error(usage) if nothing in the network can be trained.
std::unique_ptr<optimizer::NamedOptimizer> make_optimizer(const TrainOptions& options, const model::Network& network);
optimizer::LearningRateSchedule make_schedule(const TrainOptions& options, std::uint64_t planned_samples);

}  // namespace mastic::engine
