// XXH3 checksums: of tensors in checkpoints, of files, of fingerprints that ranks compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace mastic {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::string to_hex(std::uint64_t checksum);  // 16 lower-case digits

// The same checksum over data that arrives in pieces.
class RunningChecksum {
  public:
    RunningChecksum();
    ~RunningChecksum();
    RunningChecksum(RunningChecksum&&) noexcept;
    RunningChecksum& operator=(RunningChecksum&&) noexcept;
    void update(std::span<const std::byte> bytes);
    std::uint64_t value() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace mastic
