#include <mastic/colocation/placement.hpp>

#include <algorithm>
#include <map>

#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

constexpr int any_numa = -1;

void check(const PlacementRequest& request) {
    const auto devices = static_cast<int>(request.devices.size());
    if (devices == 0) {
        throw Error(ExitCode::environment, "there is no device to share");
    }
    if (request.ranks_per_device > 0 && request.local_size > request.ranks_per_device * devices) {
        throw Error(ExitCode::usage,
                    std::to_string(request.local_size) + " ranks on this node, but " +
                        std::to_string(devices) + (devices == 1 ? " device x " : " devices x ") +
                        std::to_string(request.ranks_per_device) + " ranks are fewer",
                    "start fewer ranks on each node, or give a larger --ranks-per-gpu");
    }
}

// K after K, or runs whose lengths differ by at most one.
std::size_t device_of(int rank, const PlacementRequest& request) {
    const auto number = static_cast<std::size_t>(rank);
    return request.ranks_per_device > 0
               ? number / static_cast<std::size_t>(request.ranks_per_device)
               : number * request.devices.size() / static_cast<std::size_t>(request.local_size);
}

class CoreShares {
  public:
    CoreShares(const job::CpuView& cpus, const Placement& placement)
        : common_(job::common_cpus(cpus)), cpus_(cpus), placement_(placement) {
        for (const RankPlace& rank : placement.ranks) {
            ranks_of_[node_of(rank)].push_back(rank.local_rank);
        }
    }

    job::Binding binding(const RankPlace& rank) const {
        if (job::bound_by_launcher(cpus_)) {
            return job::present_binding(cpus_);
        }
        const Device& device = placement_.devices[rank.device];
        if (!device.cores.empty()) {
            return cut(device.cores, static_cast<std::size_t>(rank.index),
                       static_cast<std::size_t>(rank.sharers), device.id);
        }
        const int node = node_of(rank);
        const std::vector<int>& sharers = ranks_of_.at(node);
        const auto index =
            static_cast<std::size_t>(std::ranges::find(sharers, rank.local_rank) - sharers.begin());
        return cut(cores_of(node), index, sharers.size(),
                   node == any_numa ? "all cores" : "NUMA node " + std::to_string(node));
    }

  private:
    int node_of(const RankPlace& rank) const {
        const auto numa = placement_.devices[rank.device].numa;
        return numa && std::ranges::count(common_.numa, *numa) > 0 ? *numa : any_numa;
    }

    std::vector<job::Core> cores_of(int node) const {
        if (node == any_numa) {
            return common_.allowed;
        }
        std::vector<job::Core> cores;
        for (std::size_t i = 0; i < common_.allowed.size(); ++i) {
            if (common_.numa[i] == node) {
                cores.push_back(common_.allowed[i]);
            }
        }
        return cores;
    }

    job::Binding cut(const std::vector<job::Core>& cores, std::size_t index, std::size_t count,
                     const std::string& where) const {
        const bool enough = count <= cores.size();
        const std::vector<job::Core> own = enough ? job::share_of(cores, index, count) : cores;
        job::Binding binding;
        binding.pus = job::pus_of(own);
        binding.cores = static_cast<int>(own.size());
        binding.changed = binding.pus != cpus_.bound;
        binding.reason = enough ? "its share of " + where
                                : std::to_string(count) + " ranks share the " + std::to_string(cores.size()) +
                                      " cores of " + where;
        return binding;
    }

    job::CpuView common_;
    const job::CpuView& cpus_;
    const Placement& placement_;
    std::map<int, std::vector<int>> ranks_of_;  // NUMA node -> local ranks whose device is there
};

std::vector<Device> by_numa(std::vector<Device> devices) {
    const bool known =
        std::ranges::all_of(devices, [](const Device& device) { return device.numa.has_value(); });
    if (known) {
        std::ranges::stable_sort(devices, {}, [](const Device& device) { return *device.numa; });
    }
    return devices;
}

void add_notes(Placement& placement) {
    for (std::size_t i = 0; i < placement.devices.size(); ++i) {
        if (std::ranges::count(placement.ranks, i, &RankPlace::device) == 0) {
            placement.notes.push_back(placement.devices[i].id + " has no rank");
        }
    }
}

}  // namespace

Placement place_ranks(const PlacementRequest& request) {
    check(request);
    Placement placement;
    placement.devices = by_numa(request.devices);
    for (int rank = 0; rank < request.local_size; ++rank) {
        RankPlace place;
        place.local_rank = rank;
        place.device = device_of(rank, request);
        place.index = static_cast<int>(std::ranges::count(placement.ranks, place.device, &RankPlace::device));
        placement.ranks.push_back(std::move(place));
    }
    for (RankPlace& place : placement.ranks) {
        place.sharers =
            static_cast<int>(std::ranges::count(placement.ranks, place.device, &RankPlace::device));
    }
    const CoreShares shares(request.cpus, placement);
    for (RankPlace& place : placement.ranks) {
        place.binding = shares.binding(place);
        place.threads = std::max(1, place.binding.cores);
    }
    add_notes(placement);
    return placement;
}

}  // namespace mastic::colocation
