// Which rank of a node works on which device, and on which cores. Pure.
#pragma once

#include <string>
#include <vector>

#include <mastic/colocation/device.hpp>
#include <mastic/job/binding.hpp>

namespace mastic::colocation {

struct RankPlace {
    int local_rank = 0;
    std::size_t device = 0;  // index into Placement::devices
    int index = 0;           // among the ranks of that device
    int sharers = 1;         // ranks on that device, this one among them
    job::Binding binding;
    int threads = 1;  // computing threads that its cores are for
};

struct Placement {
    std::vector<Device> devices;  // by NUMA node, so that neighbouring ranks get near devices and cores
    std::vector<RankPlace> ranks;
    std::vector<std::string> notes;
};

struct PlacementRequest {
    int local_size = 1;
    int ranks_per_device = 0;  // 0: spread evenly
    std::vector<Device> devices;
    job::CpuView cpus;
};

// Consecutive ranks share a device. The ranks whose devices lie at one NUMA node share that node's cores; those of a device whose node
// is not known, or has no cores for this job, share all. A process that its launcher has bound keeps its cores, and only
// that process' own entry is meant then. Throws Error(usage): more ranks than places.
Placement place_ranks(const PlacementRequest& request);

}  // namespace mastic::colocation
