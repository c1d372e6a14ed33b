// Steps of a program that all ranks take, and that fail on all ranks if they fail on one: nobody is left waiting.
#pragma once

#include <functional>
#include <string>

#include <mastic/comm/group.hpp>

namespace mastic::comm {

// Collective. Every rank runs `action`. If it throws on any rank, all throw AgreedError with the error of the lowest such
// rank (its number in front if not every rank failed).
void run_together(Group& group, const std::function<void()>& action);

// Collective. Rank 0 runs `action` and all get its answer, or its error as AgreedError.
std::string run_on_first(Group& group, const std::function<std::string()>& action);

}  // namespace mastic::comm
