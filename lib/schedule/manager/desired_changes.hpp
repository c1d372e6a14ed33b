// From how many nodes each training shall have to which pilots come and which go. Pure.
//
// Nodes do not pass from one training to another directly: a pilot leaves, Slurm sees its node idle, and a later round gives it
// to whom the policy then wants to have it. So no node is ever promised twice.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <mastic/schedule/node_pool.hpp>

namespace mastic::schedule {

struct HeldNode {
    IdleNode node;
    std::string job;       // the pilot
    bool pending = false;  // it waits for the node
};

struct WantedNodes {
    std::string training;
    int target = 0;
    std::vector<HeldNode> held;  // without those that leave; in the order in which they were given
    int most_new = 0;            // pilots at a time; 0: none now
};

struct Placement {
    std::string training;
    IdleNode node;
};

struct DesiredChanges {
    std::vector<std::string> leave;  // jobs
    std::vector<Placement> come;
};

// `free`: nodes without a pilot. At most `most_new` pilots come in all: those that are left out come in later rounds. The
// training that misses most chooses first.
DesiredChanges desired_changes(const std::vector<WantedNodes>& trainings, const std::vector<IdleNode>& free,
                               std::size_t most_new);

}  // namespace mastic::schedule
