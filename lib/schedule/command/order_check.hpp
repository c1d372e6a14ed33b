// mastic-train itself says, before a training is submitted, what its pilots would end with.
#pragma once

#include <filesystem>
#include <vector>

#include <mastic/core/command.hpp>
#include <mastic/schedule/manager/training_order.hpp>

namespace mastic::schedule {

// The options of every order; data, network and one sample of the first of each configuration. `orders` are completed,
// `programs`: where mastic-train is. Throws Error with mastic-train's own code and words. What this machine lacks (no
// mastic-train, no libtorch, no GPU) is no mistake of the order: it is told, and the nodes may have it.
void check_orders(const std::vector<TrainingOrder>& orders, const std::filesystem::path& programs,
                  const CommandRunner& run);

}  // namespace mastic::schedule
