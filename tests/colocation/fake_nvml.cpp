// NVML for nodes without a GPU: shows the GPUs that the file named by FAKE_NVML describes, a line each:
//   gpu UUID PCI_ID MEMORY_MIB COMPUTE_MODE NUMA MODEL [USER_PID]...
//   mig UUID MEMORY_MIB MODEL                                          an instance of the GPU above it
// USED_MIB in the variable FAKE_NVML_USED is in use on each. Without the file nvmlInit_v2 fails, as without a driver.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct FakeDevice {
    std::string uuid, pci, model;
    unsigned long long memory_mib = 0;
    int mode = 0;
    unsigned numa = 0;
    std::vector<unsigned> users;
    std::vector<FakeDevice*> parts;
};

enum { success = 0, invalid_argument = 2, not_found = 6, insufficient_size = 7, driver_not_loaded = 9 };

struct PciInfo {
    char legacy_id[16];
    unsigned numbers[5];
    char id[32];
};
struct MemoryInfo {
    unsigned long long total, free, used;
};
struct ProcessInfo {
    unsigned pid;
    unsigned long long memory;
    unsigned instances[2];
};

std::vector<FakeDevice*> gpus;  // never freed: handles point there

FakeDevice* read_gpu(std::istringstream& words) {
    auto* gpu = new FakeDevice;
    words >> gpu->uuid >> gpu->pci >> gpu->memory_mib >> gpu->mode >> gpu->numa >> gpu->model;
    for (unsigned pid = 0; words >> pid;) {
        gpu->users.push_back(pid);
    }
    return gpu;
}

FakeDevice& device(void* handle) {
    return *static_cast<FakeDevice*>(handle);
}

int copy(const std::string& text, char* to, unsigned size) {
    if (text.size() >= size) {
        return insufficient_size;
    }
    std::strcpy(to, text.c_str());
    return success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
    const char* name = std::getenv("FAKE_NVML");
    std::ifstream file(name != nullptr ? name : "");
    if (!file) {
        return driver_not_loaded;
    }
    gpus.clear();
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "gpu") {
            gpus.push_back(read_gpu(words));
        } else if (kind == "mig") {
            auto* part = new FakeDevice;
            words >> part->uuid >> part->memory_mib >> part->model;
            gpus.back()->parts.push_back(part);
        }
    }
    return success;
}

int nvmlShutdown() {
    return success;
}

const char* nvmlErrorString(int status) {
    return status == driver_not_loaded ? "Driver Not Loaded" : status == not_found ? "Not Found" : "Error";
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
    return copy("535.104", text, size);
}

int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(gpus.size());
    return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
    if (index >= gpus.size()) {
        return invalid_argument;
    }
    *handle = gpus[index];
    return success;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
    for (FakeDevice* gpu : gpus) {
        std::vector<FakeDevice*> all = gpu->parts;
        all.push_back(gpu);
        for (FakeDevice* one : all) {
            if (one->uuid == uuid) {
                *handle = one;
                return success;
            }
        }
    }
    return not_found;
}

int nvmlDeviceGetUUID(void* handle, char* text, unsigned size) {
    return copy(device(handle).uuid, text, size);
}
int nvmlDeviceGetName(void* handle, char* text, unsigned size) {
    return copy(device(handle).model, text, size);
}

int nvmlDeviceGetPciInfo_v3(void* handle, PciInfo* info) {
    return copy(device(handle).pci, info->id, sizeof info->id);
}

int nvmlDeviceGetMemoryInfo(void* handle, MemoryInfo* info) {
    const char* used = std::getenv("FAKE_NVML_USED");
    info->total = device(handle).memory_mib << 20;
    info->used = used != nullptr ? std::strtoull(used, nullptr, 10) << 20 : 0;
    info->free = info->total - info->used;
    return success;
}

int nvmlDeviceGetComputeMode(void* handle, int* mode) {
    *mode = device(handle).mode;
    return success;
}

int nvmlDeviceGetNumaNodeId(void* handle, unsigned* node) {
    *node = device(handle).numa;
    return success;
}

int nvmlDeviceGetMaxMigDeviceCount(void* handle, unsigned* count) {
    *count = device(handle).parts.empty() ? 0 : 7;  // as an A100 says, however many there are
    return success;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* handle, unsigned index, void** part) {
    const auto& parts = device(handle).parts;
    if (index >= parts.size()) {
        return not_found;
    }
    *part = parts[index];
    return success;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, ProcessInfo* processes) {
    const auto& users = device(handle).users;
    const unsigned room = *count;
    *count = static_cast<unsigned>(users.size());
    if (users.size() > room) {
        return insufficient_size;
    }
    for (std::size_t i = 0; i < users.size(); ++i) {
        processes[i].pid = users[i];
    }
    return success;
}
}
