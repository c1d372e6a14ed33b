// Which generations may go. Pure: the files are the store's business.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mastic::checkpoint {

struct RetentionRules {
    int keep_last = 2;             // the newest ones that are whole; at least 1
    std::uint64_t keep_every = 0;  // and each whose step is a multiple of this; 0: none
};

struct GenerationSummary {
    std::uint64_t step = 0;
    bool whole = true;  // manifest readable and all files there with their sizes
};

// The steps to remove, given all generations in any order. `proven` (just written and verified) and `pinned`
// always stay. A generation that is not whole never counts as one of the last; it goes once `keep_last` whole
// ones are newer.
std::vector<std::uint64_t> removable_steps(std::span<const GenerationSummary> generations,
                                           const RetentionRules& rules, std::uint64_t proven,
                                           std::optional<std::uint64_t> pinned);

}  // namespace mastic::checkpoint
