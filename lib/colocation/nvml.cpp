#include <mastic/colocation/nvml.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>

#include <mastic/core/error.hpp>

namespace mastic::colocation {
namespace {

using Handle = void*;

enum Status : int { success = 0, insufficient_size = 7 };

struct PciInfo {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};
struct MemoryInfo {
    unsigned long long total, free, used;
};
struct ProcessInfo {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

constexpr unsigned text_length = 96;  // of names and UUIDs

// Without the driver's own word: the kernel's, for its PCI address. "00000000:3B:00.0" -> .../0000:3b:00.0/numa_node
std::optional<int> numa_of(std::string pci) {
    if (pci.size() > 12) {
        pci.erase(0, pci.size() - 12);
    }
    std::ranges::transform(pci, pci.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    int node = -1;
    std::ifstream("/sys/bus/pci/devices/" + pci + "/numa_node") >> node;
    return node >= 0 ? std::optional(node) : std::nullopt;
}

}  // namespace

struct Nvml::Functions {
    void* library = nullptr;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*driver_version)(char*, unsigned) = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, Handle*) = nullptr;
    int (*by_uuid)(const char*, Handle*) = nullptr;
    int (*uuid)(Handle, char*, unsigned) = nullptr;
    int (*name)(Handle, char*, unsigned) = nullptr;
    int (*pci)(Handle, PciInfo*) = nullptr;
    int (*memory)(Handle, MemoryInfo*) = nullptr;
    int (*compute_mode)(Handle, int*) = nullptr;
    int (*processes)(Handle, unsigned*, ProcessInfo*) = nullptr;
    // Not in old drivers.
    int (*numa)(Handle, unsigned*) = nullptr;
    int (*mig_count)(Handle, unsigned*) = nullptr;
    int (*mig_device)(Handle, unsigned, Handle*) = nullptr;

    ~Functions() {
        if (shutdown != nullptr) {
            shutdown();
        }
        if (library != nullptr) {
            dlclose(library);
        }
    }

    template <class Function>
    bool find(Function& function, const char* symbol) {
        function = reinterpret_cast<Function>(dlsym(library, symbol));
        return function != nullptr;
    }

    bool load() {
        find(numa, "nvmlDeviceGetNumaNodeId");
        find(mig_count, "nvmlDeviceGetMaxMigDeviceCount");
        find(mig_device, "nvmlDeviceGetMigDeviceHandleByIndex");
        find(processes, "nvmlDeviceGetComputeRunningProcesses_v3") ||
            find(processes, "nvmlDeviceGetComputeRunningProcesses_v2");
        return find(init, "nvmlInit_v2") && find(error_string, "nvmlErrorString") &&
               find(driver_version, "nvmlSystemGetDriverVersion") && find(count, "nvmlDeviceGetCount_v2") &&
               find(by_index, "nvmlDeviceGetHandleByIndex_v2") &&
               find(by_uuid, "nvmlDeviceGetHandleByUUID") && find(uuid, "nvmlDeviceGetUUID") &&
               find(name, "nvmlDeviceGetName") && find(pci, "nvmlDeviceGetPciInfo_v3") &&
               find(memory, "nvmlDeviceGetMemoryInfo") && find(compute_mode, "nvmlDeviceGetComputeMode");
    }

    void require(int status, const std::string& what) const {
        if (status != success) {
            throw Error(ExitCode::environment, "NVML cannot tell " + what + ": " + error_string(status),
                        "does nvidia-smi work on this node?");
        }
    }

    Device describe(Handle handle) const {
        Device device;
        std::array<char, text_length> text{};
        require(uuid(handle, text.data(), text.size()), "a GPU's UUID");
        device.id = text.data();
        require(name(handle, text.data(), text.size()), "the model of " + device.id);
        device.model = text.data();
        MemoryInfo bytes{};
        require(memory(handle, &bytes), "the memory of " + device.id);
        device.memory = {bytes.total};
        return device;
    }

    void add_place(Handle handle, Device& device) const {
        PciInfo place{};
        require(pci(handle, &place), "where " + device.id + " is");
        device.pci = place.id;
        unsigned node = 0;
        device.numa = numa != nullptr && numa(handle, &node) == success
                          ? std::optional(static_cast<int>(node))
                          : numa_of(device.pci);
        int mode = 0;
        require(compute_mode(handle, &mode), "the compute mode of " + device.id);
        device.mode = static_cast<ComputeMode>(mode);
    }

    std::vector<int> users(Handle handle) const {
        std::vector<ProcessInfo> found(64);
        auto number = static_cast<unsigned>(found.size());
        if (processes == nullptr) {
            return {};
        }
        int status = processes(handle, &number, found.data());
        if (status == insufficient_size) {
            found.resize(number + 16);
            number = static_cast<unsigned>(found.size());
            status = processes(handle, &number, found.data());
        }
        std::vector<int> pids;
        for (unsigned i = 0; status == success && i < number; ++i) {
            pids.push_back(static_cast<int>(found[i].pid));
        }
        return pids;
    }

    std::vector<Device> instances(Handle gpu, const Device& parent) const {
        std::vector<Device> found;
        unsigned most = 0;
        if (mig_count == nullptr || mig_device == nullptr || mig_count(gpu, &most) != success) {
            return found;
        }
        for (unsigned i = 0; i < most; ++i) {
            Handle handle = nullptr;
            if (mig_device(gpu, i, &handle) != success) {
                continue;  // a gap in the numbering
            }
            Device device = describe(handle);
            device.kind = DeviceKind::mig;
            device.parent = parent.id;
            device.pci = parent.pci;
            device.numa = parent.numa;
            device.mode = parent.mode;
            found.push_back(std::move(device));
        }
        return found;
    }
};

Nvml::Nvml(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}
Nvml::~Nvml() = default;
Nvml::Nvml(Nvml&&) noexcept = default;

Nvml Nvml::open(const Environment& environment) {
    const std::string name = environment("MASTIC_MPS_NVML").value_or("libnvidia-ml.so.1");
    auto functions = std::make_unique<Functions>();
    functions->library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (functions->library == nullptr) {
        const char* reason = dlerror();
        throw Error(ExitCode::environment,
                    "no NVIDIA GPU can be found here: " + std::string(reason != nullptr ? reason : name),
                    "run this on a node with a GPU and its driver, or share cores instead: --device cpu");
    }
    if (!functions->load()) {
        throw Error(ExitCode::environment,
                    name + " is too old: it lacks functions of NVML (driver 450 or newer)");
    }
    functions->require(functions->init(), "the GPUs of this node");
    functions->find(functions->shutdown, "nvmlShutdown");  // only after a good start
    return Nvml(std::move(functions));
}

std::string Nvml::driver_version() const {
    std::array<char, text_length> text{};
    functions_->require(functions_->driver_version(text.data(), text.size()), "the driver's version");
    return text.data();
}

std::vector<Device> Nvml::devices() const {
    unsigned number = 0;
    functions_->require(functions_->count(&number), "the number of GPUs");
    std::vector<std::pair<Device, std::vector<Device>>> gpus;
    for (unsigned i = 0; i < number; ++i) {
        Handle handle = nullptr;
        functions_->require(functions_->by_index(i, &handle), "GPU " + std::to_string(i));
        Device gpu = functions_->describe(handle);
        functions_->add_place(handle, gpu);
        gpu.users = functions_->users(handle);
        auto parts = functions_->instances(handle, gpu);
        gpus.emplace_back(std::move(gpu), std::move(parts));
    }
    std::ranges::stable_sort(gpus, {}, [](const auto& gpu) { return gpu.first.pci; });
    std::vector<Device> all;
    for (auto& [gpu, parts] : gpus) {
        all.push_back(std::move(gpu));
        std::ranges::move(parts, std::back_inserter(all));
    }
    return all;
}

Bytes Nvml::memory_in_use(const std::string& id) const {
    Handle handle = nullptr;
    functions_->require(functions_->by_uuid(id.c_str(), &handle), "where " + id + " is");
    MemoryInfo bytes{};
    functions_->require(functions_->memory(handle, &bytes), "the memory of " + id);
    return {bytes.used};
}

}  // namespace mastic::colocation
