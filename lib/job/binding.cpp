#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <hwloc.h>

#include <mastic/core/error.hpp>
#include <mastic/job/binding.hpp>

namespace mastic::job {
namespace {

struct BitmapFree {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapFree>;

class Topology {
  public:
    Topology() {
        if (hwloc_topology_init(&topology_) != 0) {
            throw Error(ExitCode::environment, "hwloc cannot be started");
        }
        if (hwloc_topology_load(topology_) != 0) {
            hwloc_topology_destroy(topology_);
            throw Error(ExitCode::environment, "hwloc cannot read the topology of this node");
        }
    }
    ~Topology() { hwloc_topology_destroy(topology_); }
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;

    hwloc_topology_t get() const { return topology_; }

  private:
    hwloc_topology_t topology_ = nullptr;
};

std::vector<int> members(hwloc_const_cpuset_t set) {
    std::vector<int> pus;
    for (int pu = hwloc_bitmap_first(set); pu != -1; pu = hwloc_bitmap_next(set, pu)) {
        pus.push_back(pu);
    }
    return pus;
}

std::vector<Core> allowed_cores(const Topology& topology) {
    const auto allowed = hwloc_topology_get_allowed_cpuset(topology.get());
    std::vector<Core> cores;
    for (hwloc_obj_t core = nullptr;
         (core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr;) {
        const Bitmap own(hwloc_bitmap_alloc());
        hwloc_bitmap_and(own.get(), core->cpuset, allowed);
        if (hwloc_bitmap_iszero(own.get()) == 0) {
            cores.push_back(members(own.get()));
        }
    }
    if (cores.empty()) {  // some virtual machines hide their cores
        for (const int pu : members(allowed)) {
            cores.push_back({pu});
        }
    }
    return cores;
}

CpuView observe(const Topology& topology) {
    CpuView cpus{allowed_cores(topology), {}, false};
    const Bitmap mask(hwloc_bitmap_alloc());
    if (hwloc_get_cpubind(topology.get(), mask.get(), HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_bitmap_and(mask.get(), mask.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
        cpus.bound = members(mask.get());
    }
    return cpus;
}

std::vector<int> pus_of(const std::vector<Core>& cores) {
    std::vector<int> pus;
    for (const auto& core : cores) {
        pus.insert(pus.end(), core.begin(), core.end());
    }
    std::sort(pus.begin(), pus.end());
    return pus;
}

int count_cores(const std::vector<Core>& cores, const std::vector<int>& pus) {
    return static_cast<int>(std::count_if(cores.begin(), cores.end(), [&](const Core& core) {
        return std::any_of(core.begin(), core.end(),
                           [&](int pu) { return std::binary_search(pus.begin(), pus.end(), pu); });
    }));
}

bool bound_by_launcher(const CpuView& cpus) {
    return !cpus.bound_is_shared && !cpus.bound.empty() && cpus.bound.size() < pus_of(cpus.allowed).size();
}

// What the ranks of this node share: the allowed cores, less what a common mask leaves out.
std::vector<Core> common_cores(const CpuView& cpus) {
    if (!cpus.bound_is_shared || cpus.bound.empty()) {
        return cpus.allowed;
    }
    std::vector<Core> cores;
    for (Core core : cpus.allowed) {
        std::erase_if(core,
                      [&](int pu) { return !std::binary_search(cpus.bound.begin(), cpus.bound.end(), pu); });
        if (!core.empty()) {
            cores.push_back(std::move(core));
        }
    }
    return cores;
}

std::string plural(std::size_t count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

CpuView observe_cpus() {
    return observe(Topology());
}

Binding present_binding(const CpuView& cpus) {
    return {cpus.bound, count_cores(cpus.allowed, cpus.bound), false,
            bound_by_launcher(cpus) ? "bound by the launcher" : "not bound: job.bind is false"};
}

Binding plan_binding(const CpuView& cpus, int local_rank, int local_size) {
    const auto common = common_cores(cpus);
    const auto all = pus_of(common);
    const auto available = common.size();
    if (bound_by_launcher(cpus)) {
        return present_binding(cpus);
    }
    const auto ranks = static_cast<std::size_t>(std::max(local_size, 1));
    const auto rank = static_cast<std::size_t>(local_rank);
    if (local_rank < 0 || rank >= ranks) {
        throw Error(ExitCode::environment, "local rank " + std::to_string(local_rank) + " of " +
                                               std::to_string(local_size) + " cannot be bound");
    }
    if (ranks > available) {
        return {all, static_cast<int>(available), false,
                "not bound: " + plural(ranks, "rank") + " share " + plural(available, "core")};
    }
    if (ranks == 1) {
        return {all, static_cast<int>(available), false, "not bound: the only rank of the node"};
    }
    const auto begin = static_cast<std::ptrdiff_t>(rank * available / ranks);
    const auto end = static_cast<std::ptrdiff_t>((rank + 1) * available / ranks);
    const std::vector<Core> own(common.begin() + begin, common.begin() + end);
    return {pus_of(own), static_cast<int>(own.size()), true,
            "bound by mastic to its share of " + plural(available, "core")};
}

Binding bind_rank(const CpuView& cpus, int local_rank, int local_size) {
    auto binding = plan_binding(cpus, local_rank, local_size);
    if (!binding.changed) {
        return binding;
    }
    const Topology topology;
    const Bitmap mask(hwloc_bitmap_alloc());
    for (const int pu : binding.pus) {
        hwloc_bitmap_set(mask.get(), static_cast<unsigned>(pu));
    }
    if (hwloc_set_cpubind(topology.get(), mask.get(), HWLOC_CPUBIND_PROCESS) != 0) {
        const auto reason = std::string("not bound: the system refused (") + std::strerror(errno) + ")";
        return {cpus.bound, count_cores(cpus.allowed, cpus.bound), false, reason};
    }
    return binding;
}

int default_threads(const CpuView& cpus, int local_size) {
    if (bound_by_launcher(cpus)) {
        return std::max(1, count_cores(cpus.allowed, cpus.bound));
    }
    return std::max(1, static_cast<int>(common_cores(cpus).size()) / std::max(1, local_size));
}

std::string describe(const Binding& binding, int threads) {
    auto text = plural(static_cast<std::size_t>(binding.cores), "core") + " (CPU " +
                compact_ranges(binding.pus) + "): " + binding.reason + "; " +
                plural(static_cast<std::size_t>(threads), "thread");
    if (threads > binding.cores) {
        text += ", more than it has cores";
    }
    return text;
}

}  // namespace mastic::job
