// Which tensor goes into which image: pure arithmetic, no HDF5.
#include <algorithm>

#include <mastic/checkpoint/image.hpp>
#include <mastic/checkpoint/shape.hpp>
#include <mastic/core/bytes.hpp>
#include <mastic/core/error.hpp>

namespace mastic::checkpoint {
namespace {

// Upper bounds of what HDF5 adds: to a file, and to a data set with its attributes and its groups' share.
constexpr std::uint64_t file_overhead = 8 << 10;
constexpr std::uint64_t dataset_overhead = 4 << 10;
constexpr std::uint64_t group_overhead = 2 << 10;

std::uint64_t stored_bytes(const StateEntry& entry) {
    const auto groups = static_cast<std::uint64_t>(std::count(entry.name.begin(), entry.name.end(), '/'));
    // The name stands in the link heap of the last group, whose growth can double it.
    return entry.bytes.size() + dataset_overhead + groups * group_overhead + 4 * entry.name.size();
}

// Appends pieces of `entry`, each at most `limit` bytes as stored. All dimensions before the sliced one have
// extent 1, so each piece is one run of bytes.
void slice(const StateEntry& entry, std::uint64_t limit, std::vector<StateEntry>& pieces) {
    const auto first_long =
        std::find_if(entry.shape.begin(), entry.shape.end(), [](std::int64_t extent) { return extent > 1; });
    if (stored_bytes(entry) <= limit || first_long == entry.shape.end()) {
        pieces.push_back(entry);
        return;
    }
    const auto dimension = static_cast<std::size_t>(first_long - entry.shape.begin());
    const std::int64_t rows = entry.shape[dimension];
    const std::uint64_t row_bytes = entry.bytes.size() / static_cast<std::uint64_t>(rows);
    const std::uint64_t overhead = stored_bytes(entry) - entry.bytes.size();
    const std::uint64_t room = limit > overhead ? limit - overhead : 0;
    const auto step =
        static_cast<std::int64_t>(std::max<std::uint64_t>(1, room / std::max<std::uint64_t>(1, row_bytes)));
    for (std::int64_t row = 0; row < rows; row += step) {
        StateEntry piece = entry;
        piece.shape[dimension] = std::min(step, rows - row);
        piece.offset[dimension] += row;
        piece.bytes = entry.bytes.subspan(static_cast<std::uint64_t>(row) * row_bytes,
                                          static_cast<std::uint64_t>(piece.shape[dimension]) * row_bytes);
        slice(piece, limit, pieces);
    }
}

}  // namespace

std::vector<std::vector<StateEntry>> plan_images(std::span<const StateEntry> entries,
                                                 std::uint64_t image_bytes) {
    if (image_bytes < smallest_image) {
        throw Error(ExitCode::usage,
                    "checkpoint images of " + to_string(Bytes{image_bytes}) + " are too small",
                    "use at least " + to_string(Bytes{smallest_image}));
    }
    const std::uint64_t limit = image_bytes - file_overhead;
    std::vector<StateEntry> pieces;
    for (const StateEntry& entry : entries) {
        check_entry(entry);
        slice(entry, limit, pieces);
    }
    std::vector<std::vector<StateEntry>> images;
    std::uint64_t used = limit;
    for (StateEntry& piece : pieces) {
        if (images.empty() || used + stored_bytes(piece) > limit) {
            images.emplace_back();
            used = 0;
        }
        used += stored_bytes(piece);
        images.back().push_back(std::move(piece));
    }
    return images;
}

}  // namespace mastic::checkpoint
