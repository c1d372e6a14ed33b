#include <mastic/checkpoint/retention.hpp>

#include <algorithm>

namespace mastic::checkpoint {

std::vector<std::uint64_t> removable_steps(std::span<const GenerationSummary> generations,
                                           const RetentionRules& rules, std::uint64_t proven,
                                           std::optional<std::uint64_t> pinned) {
    std::vector<GenerationSummary> newest_first(generations.begin(), generations.end());
    std::ranges::sort(newest_first, std::ranges::greater(), &GenerationSummary::step);
    std::vector<std::uint64_t> removable;
    int whole_ones = 0;
    for (const GenerationSummary& generation : newest_first) {
        const bool among_last = whole_ones < std::max(1, rules.keep_last);
        whole_ones += generation.whole ? 1 : 0;
        const bool milestone =
            rules.keep_every > 0 && generation.step % rules.keep_every == 0 && generation.whole;
        if (!among_last && !milestone && generation.step != proven && generation.step != pinned) {
            removable.push_back(generation.step);
        }
    }
    return removable;
}

}  // namespace mastic::checkpoint
