#include <mastic/colocation/memory_gauge.hpp>

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace mastic::colocation {

MemoryGauge gpu_memory(const Nvml& nvml, std::vector<Device> devices) {
    return [&nvml, devices = std::move(devices)] {
        MemoryReading fullest;
        for (const Device& device : devices) {
            const MemoryReading now{nvml.memory_in_use(device.id), device.memory};
            if (now.used.count >= fullest.used.count) {
                fullest = now;
            }
        }
        return fullest;
    };
}

MemoryReading parse_meminfo(const std::string& text) {
    std::map<std::string, std::uint64_t> kib;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t value = 0;
        if (words >> name >> value) {
            kib[name] = value;
        }
    }
    const std::uint64_t total = kib["MemTotal:"];
    const std::uint64_t available = kib["MemAvailable:"];
    return available <= total ? MemoryReading{{(total - available) << 10}, {total << 10}} : MemoryReading{};
}

MemoryGauge node_memory() {
    return [] {
        std::ifstream file("/proc/meminfo");
        return parse_meminfo({std::istreambuf_iterator<char>(file), {}});
    };
}

}  // namespace mastic::colocation
