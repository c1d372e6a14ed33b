// A list of tensors as one HDF5 file in memory, and back. HDF5's core driver builds it without ever touching
// a disk, as HDF5 itself survives neither a full disk nor a killed process; the bytes are written by our own
// code (durable_file.hpp). Any HDF5 tool opens the file: each tensor is a contiguous, little-endian data set
// at the path of its name (a slice at NAME@OFFSET, "model/fc.weight@128,0") with the attributes mastic_type,
// global_shape, offset and xxh3 (of its bytes, 16 hexadecimal digits). float16 is an IEEE half; bfloat16,
// which HDF5 does not know, is a 16-bit unsigned integer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mastic/checkpoint/state.hpp>

namespace mastic::checkpoint {

// One data set of an image: what it is, where its bytes lie in the file, and their checksum.
struct DatasetRecord {
    std::string name;
    DataType type = DataType::float32;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> offset;
    std::vector<std::int64_t> global_shape;
    std::uint64_t position = 0;  // bytes from the start of the file
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;  // XXH3
    auto operator<=>(const DatasetRecord&) const = default;
};

struct Image {
    std::span<const std::byte> bytes;     // the file
    std::shared_ptr<const void> owner;    // keeps `bytes` alive
    std::vector<DatasetRecord> datasets;  // in the order of the entries
};

// Throws Error(usage) for an entry that check_entry refuses or a name that occurs twice, Error(memory) if
// HDF5 cannot get the memory. Deterministic: equal entries give equal bytes. Peak memory: the image.
Image encode_image(std::span<const StateEntry> entries);

// The entries as views into the image, ordered by path. The whole image's checksum is compared with
// `expected_checksum` before HDF5 sees a byte, since HDF5 may crash on damaged input; then each data set's
// own. Throws Error(checkpoint) naming `file_name` and the data set. The entries share `owner`.
std::vector<StateEntry> decode_image(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                     std::uint64_t expected_checksum, const std::string& file_name);

// Cuts the entries, in order, into lists whose images have at most `image_bytes` each; a tensor too big for
// one is sliced along its first dimension (further dimensions only if one row is still too big). Throws
// Error(usage) if image_bytes is below `smallest_image`. No bytes are copied.
inline constexpr std::uint64_t smallest_image = 64 << 10;
std::vector<std::vector<StateEntry>> plan_images(std::span<const StateEntry> entries,
                                                 std::uint64_t image_bytes);

}  // namespace mastic::checkpoint
