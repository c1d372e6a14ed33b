// Pinned host memory that is used again and again: pinning a page costs more than copying it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace mastic::comm {

// Thread-safe. Pieces may outlive the pool.
class StagingPool {
  public:
    using Allocate = std::function<std::shared_ptr<void>(std::size_t bytes)>;
    explicit StagingPool(Allocate allocate);  // pinned memory

    // At least `bytes`; of any content. It goes back to the pool with its last owner.
    std::shared_ptr<void> take(std::size_t bytes);
    std::size_t allocated() const;  // bytes, in use or not

  private:
    struct Shelf;
    std::shared_ptr<Shelf> shelf_;
};

}  // namespace mastic::comm
