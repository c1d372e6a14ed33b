// Whether a newcomer would make an elastic run faster: it says what its own steps cost, the run compares. Pure.
#pragma once

#include <cstdint>
#include <string>

#include <mastic/engine/step_costs.hpp>

namespace mastic::engine {

std::string to_offer(const data::StepCost& cost);

// Why a run of so many members, whose shares follow their speed, does not need a newcomer with this offer; empty: it does, or the
// speed of somebody is not known. The batches are global ones, without it and with it.
std::string why_not_needed(const StepCosts::ByRank& present, std::size_t members, const std::string& offer,
                           std::uint64_t batch_without, std::uint64_t batch_with);

}  // namespace mastic::engine
