// The few functions of NVIDIA's management library that say which GPUs a node has. Opened with dlopen, so that nothing of
// NVIDIA is needed to build or to install mastic. Names and layouts are those of NVML's stable interface (NVML API reference,
// release 525).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <mastic/colocation/device.hpp>
#include <mastic/core/environment.hpp>

namespace mastic::colocation {

class Nvml {
  public:
    // The library that the variable MASTIC_MPS_NVML names, else libnvidia-ml.so.1. Throws Error(environment): it is not
    // there, or does not find a driver.
    static Nvml open(const Environment& environment);
    ~Nvml();
    Nvml(Nvml&&) noexcept;
    Nvml& operator=(Nvml&&) = delete;

    std::string driver_version() const;
    // GPUs in the order of their PCI bus ids, which is what indices mean; each followed by its MIG instances, if it has any.
    std::vector<Device> devices() const;
    // Memory in use on a device now, by all processes.
    Bytes memory_in_use(const std::string& id) const;

  private:
    struct Functions;
    explicit Nvml(std::unique_ptr<Functions> functions);
    std::unique_ptr<Functions> functions_;
};

}  // namespace mastic::colocation
