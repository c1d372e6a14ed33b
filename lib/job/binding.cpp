#include <mastic/job/binding.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <hwloc.h>

#include <mastic/core/error.hpp>

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

void add_core(CpuView& cpus, hwloc_const_cpuset_t set, int numa, hwloc_const_cpuset_t allowed) {
    const Bitmap own(hwloc_bitmap_alloc());
    hwloc_bitmap_and(own.get(), set, allowed);
    if (hwloc_bitmap_iszero(own.get()) == 0) {
        cpus.allowed.push_back(members(own.get()));
        cpus.numa.push_back(numa);
    }
}

void observe_cores(const Topology& topology, CpuView& cpus) {
    const auto allowed = hwloc_topology_get_allowed_cpuset(topology.get());
    const bool hides_cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) <= 0;  // as some virtual machines do
    const hwloc_obj_type_t type = hides_cores ? HWLOC_OBJ_PU : HWLOC_OBJ_CORE;
    for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology.get(), type, core)) != nullptr;) {
        add_core(cpus, core->cpuset, hwloc_bitmap_first(core->nodeset), allowed);
    }
}

CpuView observe(const Topology& topology) {
    CpuView cpus;
    observe_cores(topology, cpus);
    const Bitmap mask(hwloc_bitmap_alloc());
    if (hwloc_get_cpubind(topology.get(), mask.get(), HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_bitmap_and(mask.get(), mask.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
        cpus.bound = members(mask.get());
    }
    return cpus;
}

int count_cores(const std::vector<Core>& cores, const std::vector<int>& pus) {
    return static_cast<int>(std::count_if(cores.begin(), cores.end(), [&](const Core& core) {
        return std::any_of(core.begin(), core.end(),
                           [&](int pu) { return std::binary_search(pus.begin(), pus.end(), pu); });
    }));
}

std::string plural(std::size_t count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

CpuView observe_cpus() {
    return observe(Topology());
}

std::vector<int> pus_of(const std::vector<Core>& cores) {
    std::vector<int> pus;
    for (const auto& core : cores) {
        pus.insert(pus.end(), core.begin(), core.end());
    }
    std::sort(pus.begin(), pus.end());
    return pus;
}

bool bound_by_launcher(const CpuView& cpus) {
    return !cpus.bound_is_shared && !cpus.bound.empty() && cpus.bound.size() < pus_of(cpus.allowed).size();
}

CpuView common_cpus(const CpuView& cpus) {
    if (!cpus.bound_is_shared || cpus.bound.empty()) {
        return cpus;
    }
    CpuView common{{}, cpus.bound, true, {}};
    for (std::size_t i = 0; i < cpus.allowed.size(); ++i) {
        Core core = cpus.allowed[i];
        std::erase_if(core,
                      [&](int pu) { return !std::binary_search(cpus.bound.begin(), cpus.bound.end(), pu); });
        if (!core.empty()) {
            common.allowed.push_back(std::move(core));
            common.numa.push_back(i < cpus.numa.size() ? cpus.numa[i] : -1);
        }
    }
    return common;
}

std::vector<Core> share_of(const std::vector<Core>& cores, std::size_t index, std::size_t count) {
    const auto begin = static_cast<std::ptrdiff_t>(index * cores.size() / count);
    const auto end = static_cast<std::ptrdiff_t>((index + 1) * cores.size() / count);
    return {cores.begin() + begin, cores.begin() + end};
}

Binding present_binding(const CpuView& cpus) {
    return {cpus.bound, count_cores(cpus.allowed, cpus.bound), false,
            bound_by_launcher(cpus) ? "bound by the launcher" : "not bound: job.bind is false"};
}

Binding plan_binding(const CpuView& cpus, int local_rank, int local_size) {
    const auto common = common_cpus(cpus).allowed;
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
    const std::vector<Core> own = share_of(common, rank, ranks);
    return {pus_of(own), static_cast<int>(own.size()), true,
            "bound by mastic to its share of " + plural(available, "core")};
}

Binding apply_binding(const Binding& plan, const CpuView& cpus) {
    if (!plan.changed) {
        return plan;
    }
    const Topology topology;
    const Bitmap mask(hwloc_bitmap_alloc());
    for (const int pu : plan.pus) {
        hwloc_bitmap_set(mask.get(), static_cast<unsigned>(pu));
    }
    if (hwloc_set_cpubind(topology.get(), mask.get(), HWLOC_CPUBIND_PROCESS) != 0) {
        const auto reason = std::string("not bound: the system refused (") + std::strerror(errno) + ")";
        return {cpus.bound, count_cores(cpus.allowed, cpus.bound), false, reason};
    }
    return plan;
}

Binding bind_rank(const CpuView& cpus, int local_rank, int local_size) {
    return apply_binding(plan_binding(cpus, local_rank, local_size), cpus);
}

int default_threads(const CpuView& cpus, int local_size) {
    if (bound_by_launcher(cpus)) {
        return std::max(1, count_cores(cpus.allowed, cpus.bound));
    }
    return std::max(1, static_cast<int>(common_cpus(cpus).allowed.size()) / std::max(1, local_size));
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
