// Which nodes of the present job are gone. A lost node looks to the run like a lost rank (code 7), long before Slurm
// takes the node for down (SlurmdTimeout, 5 min as shipped); but unlike one it does not come again on other nodes.
#pragma once

#include <string>
#include <vector>

#include <mastic/core/command.hpp>

namespace mastic::job {

// Starts a word on each node of `node_list` (SLURM_JOB_NODELIST): those that do not say it are lost. With all nodes in
// order it takes 0.2 s, with a lost one about 11 s (Slurm's MessageTimeout). None if srun says nothing at all, or if
// the list is empty or not one.
std::vector<std::string> lost_nodes(const std::string& node_list, const CommandRunner& run);

}  // namespace mastic::job
