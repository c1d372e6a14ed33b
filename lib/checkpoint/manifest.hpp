// What belongs to one generation of a checkpoint: the files, the data sets in them, and all their checksums.
//
// The text form is JSON framed so that any changed bit is noticed: a fixed head, the XXH3 of the exact bytes
// of the body, the body, a fixed tail:
//   {"format":"mastic-checkpoint","xxh3":"0123456789abcdef","body":{"version":1,"step":...}}\n
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/checkpoint/image.hpp>

namespace mastic::checkpoint {

struct FileRecord {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;  // XXH3 of the whole file
    std::vector<DatasetRecord> datasets;
    auto operator<=>(const FileRecord&) const = default;
};

// What one writer wrote. Its text travels between ranks.
struct ShardRecord {
    int writer = 0;
    int writers = 1;
    std::vector<FileRecord> files;
    auto operator<=>(const ShardRecord&) const = default;
};

struct CheckpointManifest {
    static constexpr int current_version = 1;
    int version = current_version;
    std::uint64_t step = 0;
    std::uint64_t samples = 0;
    std::string created;  // ISO 8601, UTC
    int world_size = 1;
    std::string facts = "{}";  // JSON
    std::vector<FileRecord> files;

    std::uint64_t bytes() const;  // of the files, without the manifest
    auto operator<=>(const CheckpointManifest&) const = default;
};

std::string to_text(const ShardRecord& record);
ShardRecord parse_shard_record(std::string_view text);  // throws Error(checkpoint)

// Throws Error(usage) if `facts` is no JSON.
std::string to_text(const CheckpointManifest& manifest);
// Throws Error(checkpoint): changed, cut short, or of a newer version.
CheckpointManifest parse_manifest(std::string_view text);

// The framing alone, for other small files that must prove themselves (best.json).
std::string frame_json(std::string_view body);
std::string_view unframe_json(std::string_view text);  // throws Error(checkpoint)

// Throws Error(checkpoint) naming the tensor if its slices, over all files, leave a gap, overlap, or disagree
// in type or global shape.
void check_coverage(const CheckpointManifest& manifest);

}  // namespace mastic::checkpoint
