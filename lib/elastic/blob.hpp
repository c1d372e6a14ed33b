// Bytes in pieces that somebody owns: a snapshot, or the reduced buckets of a step. Nothing is copied to make one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mastic::elastic {

class Blob {
  public:
    Blob() = default;
    // `owner` keeps the pieces alive and unchanged.
    Blob(std::vector<std::span<const std::byte>> pieces, std::shared_ptr<const void> owner);
    static Blob of(std::vector<std::byte> bytes);

    std::uint64_t size() const { return size_; }
    // Fills `into` with what begins at `offset`; the range must be inside.
    void read(std::uint64_t offset, std::span<std::byte> into) const;

  private:
    std::vector<std::span<const std::byte>> pieces_;
    std::shared_ptr<const void> owner_;
    std::uint64_t size_ = 0;
};

}  // namespace mastic::elastic
