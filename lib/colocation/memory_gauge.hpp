// How full the devices are.
#pragma once

#include <functional>
#include <vector>

#include <mastic/colocation/device.hpp>
#include <mastic/colocation/nvml.hpp>

namespace mastic::colocation {

struct MemoryReading {
    Bytes used;  // of the device with the least room; 0: not known
    Bytes total;
};
using MemoryGauge = std::function<MemoryReading()>;

MemoryGauge gpu_memory(const Nvml& nvml, std::vector<Device> devices);  // `nvml` must outlive it
// Of this node, which all groups of cores share: /proc/meminfo, as text.
MemoryReading parse_meminfo(const std::string& text);
MemoryGauge node_memory();

}  // namespace mastic::colocation
