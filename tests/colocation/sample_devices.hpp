// Devices and cores for tests of what is pure.
#pragma once

#include <mastic/colocation/device.hpp>

namespace mastic::test {

inline colocation::Device gpu(const std::string& id, std::optional<int> numa = 0) {
    colocation::Device device;
    device.id = id;
    device.model = "A100";
    device.memory = {80ull << 30};
    device.numa = numa;
    return device;
}

inline colocation::Device mig(const std::string& id, const std::string& parent) {
    colocation::Device device = gpu(id);
    device.kind = colocation::DeviceKind::mig;
    device.parent = parent;
    return device;
}

// `count` cores of two PUs each (n and n + count), the first half on NUMA node 0, the rest on node 1; nobody is bound.
inline job::CpuView two_numa_nodes(int count) {
    job::CpuView cpus;
    for (int core = 0; core < count; ++core) {
        cpus.allowed.push_back({core, core + count});
        cpus.numa.push_back(core < count / 2 ? 0 : 1);
    }
    cpus.bound = job::pus_of(cpus.allowed);
    return cpus;
}

}  // namespace mastic::test
