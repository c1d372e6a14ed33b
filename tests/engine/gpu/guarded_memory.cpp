#include "engine/gpu/guarded_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

namespace mastic::test {
namespace {

std::byte* map_or_end(int file, std::size_t bytes, int protection) {
    void* const memory = mmap(nullptr, bytes, protection, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        std::perror("memory of the fake GPU");
        std::abort();
    }
    return static_cast<std::byte*>(memory);
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes) : bytes_(bytes) {
    const int file = memfd_create("fake GPU", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
        std::perror("memory of the fake GPU");
        std::abort();
    }
    guarded_ = map_or_end(file, bytes, PROT_NONE);
    open_ = map_or_end(file, bytes, PROT_READ | PROT_WRITE);
    close(file);
}

// The first gap that is large enough.
void* GuardedMemory::allocate(std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    const std::size_t size = std::max<std::size_t>((bytes + alignment - 1) / alignment, 1) * alignment;
    const std::lock_guard lock(mutex_);
    std::size_t place = 0;
    for (const auto& [offset, length] : used_) {
        if (offset - place >= size) {
            break;
        }
        place = offset + length;
    }
    if (place + size > bytes_) {
        std::fprintf(stderr, "the fake GPU is full\n");
        std::abort();
    }
    used_[place] = size;
    return guarded_ + place;
}

void GuardedMemory::free(void* on_device) {
    const std::lock_guard lock(mutex_);
    used_.erase(offset_of(on_device));
}

void* GuardedMemory::on_host(void* address) const {
    const std::size_t offset = offset_of(address);
    return offset < bytes_ ? open_ + offset : address;
}

std::size_t GuardedMemory::offset_of(const void* address) const {
    return reinterpret_cast<std::size_t>(address) - reinterpret_cast<std::size_t>(guarded_);
}

}  // namespace mastic::test
