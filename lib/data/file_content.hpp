// The bytes of a data file. Gzip is undone, whatever the name says; a plain file is mapped, so that ranks on
// one node share its pages and a file larger than memory can be used. (A mapped file must not be cut short
// while in use.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace mastic::data {

struct FileContent {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  // keeps `bytes` alive
};

// The file as it is stored. Error(data) if it is missing, unreadable or no regular file.
FileContent map_file(const std::filesystem::path& path);

// The content, decompressed if it is gzip, but then at most `limit` bytes of it: memory grows with what is
// there, so a header that promises too much costs nothing.
FileContent read_content(const std::filesystem::path& path,
                         std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

// The first `count` bytes of the content, or all if there are fewer.
std::vector<std::byte> read_prefix(const std::filesystem::path& path, std::size_t count);

}  // namespace mastic::data
