#include <mastic/comm/device/staging_pool.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace mastic::comm {
namespace {

constexpr std::size_t smallest = 4096;

}  // namespace

struct StagingPool::Shelf {
    Allocate allocate;
    mutable std::mutex mutex;
    std::map<std::size_t, std::vector<std::shared_ptr<void>>> free;  // by size
    std::size_t allocated = 0;
};

StagingPool::StagingPool(Allocate allocate) : shelf_(std::make_shared<Shelf>()) {
    shelf_->allocate = std::move(allocate);
}

// Sizes are powers of two, so that buffers of many sizes share few pieces.
std::shared_ptr<void> StagingPool::take(std::size_t bytes) {
    const std::size_t size = std::bit_ceil(std::max(bytes, smallest));
    std::shared_ptr<void> piece;
    const std::lock_guard lock(shelf_->mutex);
    auto& free = shelf_->free[size];
    if (free.empty()) {
        piece = shelf_->allocate(size);
        shelf_->allocated += size;
    } else {
        piece = std::move(free.back());
        free.pop_back();
    }
    void* const memory = piece.get();
    return {memory, [shelf = shelf_, piece = std::move(piece), size](void*) mutable {
                const std::lock_guard back(shelf->mutex);
                shelf->free[size].push_back(std::move(piece));
            }};
}

std::size_t StagingPool::allocated() const {
    const std::lock_guard lock(shelf_->mutex);
    return shelf_->allocated;
}

}  // namespace mastic::comm
