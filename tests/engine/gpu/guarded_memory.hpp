// Memory of a device that is none: the process itself can read and write it at another address only. Whoever takes an address
// of the device for one of the host ends at once.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace mastic::test {

class GuardedMemory {
  public:
    explicit GuardedMemory(std::size_t bytes);  // ends the process where there is no memory

    void* allocate(std::size_t bytes);  // on the device; aligned to 256 bytes
    void free(void* on_device);
    // Addresses that are none of the device stay as they are.
    void* on_host(void* address) const;

  private:
    std::size_t offset_of(const void* address) const;

    std::size_t bytes_;
    std::byte* guarded_;
    std::byte* open_;
    std::mutex mutex_;
    std::map<std::size_t, std::size_t> used_;  // offset -> bytes
};

}  // namespace mastic::test
