// What stands against several ranks on the granted devices. Pure.
#pragma once

#include <string>
#include <vector>

#include <mastic/colocation/placement.hpp>
#include <mastic/colocation/process.hpp>

namespace mastic::colocation {

struct Neighbours {
    std::vector<int> foreign_users;                   // of Device::users those that are not this user's
    std::vector<ForeignProcess> foreign_mps_servers;  // of other users, anywhere on this node
};

// Throws Error(environment) saying what to do: a device that takes no process, or only one and has it already, or whose
// only one would be another rank. Returns what only slows down.
std::vector<std::string> check_conflicts(const Placement& placement, bool with_mps,
                                         const Neighbours& neighbours);

}  // namespace mastic::colocation
