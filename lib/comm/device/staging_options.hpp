// How a buffer on a device is cut into the chunks that pass through host memory.
#pragma once

#include <cstddef>
#include <vector>

#include <mastic/core/bytes.hpp>

namespace mastic::comm {

// Equal on all ranks.
struct StagingOptions {
    Bytes chunk{4u << 20};
    int depth = 3;  // chunks with host memory of their own: one copied in, one reduced, one copied out
};

// The elements of each chunk, all equal but the last. At least one chunk, which may be empty.
std::vector<std::size_t> chunk_counts(std::size_t count, std::size_t element_bytes, Bytes chunk);

}  // namespace mastic::comm
