#include <mastic/colocation/device.hpp>

#include <algorithm>
#include <map>

namespace mastic::colocation {

const char* to_string(ComputeMode mode) {
    switch (mode) {
        case ComputeMode::shared:
            return "default";
        case ComputeMode::exclusive_thread:
            return "exclusive thread";
        case ComputeMode::prohibited:
            return "prohibited";
        case ComputeMode::exclusive_process:
            return "exclusive process";
    }
    return "unknown";
}

std::vector<Device> core_groups(const job::CpuView& cpus, int size) {
    std::map<int, std::vector<job::Core>> nodes;
    for (std::size_t i = 0; i < cpus.allowed.size(); ++i) {
        nodes[i < cpus.numa.size() ? cpus.numa[i] : -1].push_back(cpus.allowed[i]);
    }
    std::vector<Device> groups;
    for (const auto& [numa, cores] : nodes) {
        const std::size_t length = size > 0 ? static_cast<std::size_t>(size) : cores.size();
        for (std::size_t begin = 0; begin < cores.size(); begin += length) {
            const std::size_t end = std::min(begin + length, cores.size());
            Device group;
            group.kind = DeviceKind::cores;
            group.cores.assign(cores.begin() + static_cast<std::ptrdiff_t>(begin),
                               cores.begin() + static_cast<std::ptrdiff_t>(end));
            group.id = "cores " + job::compact_ranges(job::pus_of(group.cores));
            group.model = "CPU";
            group.numa = numa >= 0 ? std::optional(numa) : std::nullopt;
            groups.push_back(std::move(group));
        }
    }
    return groups;
}

}  // namespace mastic::colocation
