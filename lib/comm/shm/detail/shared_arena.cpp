#include <mastic/comm/shm/detail/shared_arena.hpp>

#include <algorithm>
#include <iterator>

namespace mastic::comm::detail {
namespace {

std::size_t pages_for(std::size_t bytes) {
    return whole_pages(std::max<std::size_t>(bytes, 1));
}

}  // namespace

SharedArena::SharedArena(SharedFile& file, std::size_t begin, std::size_t end) : file_(file) {
    if (begin < end) {
        free_.emplace(begin, end);
    }
}

void* SharedArena::allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > file_.bytes()) {
        return nullptr;
    }
    const std::size_t wanted = pages_for(bytes);
    const auto found = std::ranges::find_if(
        free_, [wanted](const auto& range) { return range.second - range.first >= wanted; });
    if (found == free_.end()) {
        return nullptr;
    }
    const auto [begin, end] = *found;
    if (!file_.reserve(begin, wanted)) {
        return nullptr;
    }
    free_.erase(found);
    if (begin + wanted < end) {
        free_.emplace(begin + wanted, end);
    }
    return file_.data() + begin;
}

void SharedArena::release(void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto begin = static_cast<std::size_t>(static_cast<std::byte*>(data) - file_.data());
    const std::size_t pages = pages_for(bytes);
    file_.release(begin, pages);
    put_back(begin, begin + pages);
}

// Joined with the free ranges on both sides.
void SharedArena::put_back(std::size_t begin, std::size_t end) {
    auto next = free_.lower_bound(begin);
    if (next != free_.end() && next->first == end) {
        end = next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->second == begin) {
        std::prev(next)->second = end;
    } else {
        free_.emplace(begin, end);
    }
}

}  // namespace mastic::comm::detail
