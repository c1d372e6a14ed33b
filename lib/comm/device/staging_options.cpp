#include <mastic/comm/device/staging_options.hpp>

#include <algorithm>

namespace mastic::comm {

std::vector<std::size_t> chunk_counts(std::size_t count, std::size_t element_bytes, Bytes chunk) {
    const std::size_t most = std::max<std::size_t>(chunk.count / element_bytes, 1);
    std::vector<std::size_t> counts(count / most, most);
    if (count % most > 0 || counts.empty()) {
        counts.push_back(count % most);
    }
    return counts;
}

}  // namespace mastic::comm
