// Internal to lib/checkpoint: large files written sequentially, checksummed on the way, and durable before
// they get their name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace mastic::checkpoint {

// Where tests interrupt: called with the name of each point a save passes; may throw or not return.
using FaultPoint = std::function<void(const char* point)>;

// Writes PATH.tmp, in chunks of 8 MiB whose writeback starts at once, syncs it and renames it to PATH;
// returns the XXH3 of the bytes. The rename becomes durable with sync_directory. On failure the temporary is
// removed and Error(io) says how much was needed and is free. Points: "file-created", "chunk-written",
// "file-synced", "file-renamed".
std::uint64_t write_durably(const std::filesystem::path& path, std::span<const std::byte> bytes,
                            const FaultPoint& fault_point);

}  // namespace mastic::checkpoint
