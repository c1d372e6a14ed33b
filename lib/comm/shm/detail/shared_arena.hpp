// Memory of any size out of one range of a shared file: the lowest free range that is large enough (first fit).
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include <mastic/comm/shm/detail/shared_file.hpp>

namespace mastic::comm::detail {

// Thread-safe. The file must outlive the arena.
class SharedArena {
  public:
    // Offsets in the file, of whole pages.
    SharedArena(SharedFile& file, std::size_t begin, std::size_t end);

    // Page-aligned and zero-filled; null if there is no room.
    void* allocate(std::size_t bytes);
    // `bytes` as they were asked for. The pages go back to the system.
    void release(void* data, std::size_t bytes);

  private:
    using FreeRanges = std::map<std::size_t, std::size_t>;  // begin -> end
    void put_back(std::size_t begin, std::size_t end);

    SharedFile& file_;
    std::mutex mutex_;
    FreeRanges free_;
};

}  // namespace mastic::comm::detail
