#include <mastic/core/suggest.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <mastic/core/error.hpp>

namespace mastic {
namespace {

// Optimal string alignment: insert, delete, replace a character or swap two neighbours, each costs 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
    std::iota(last.begin(), last.end(), 0u);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                current[j] = std::min(current[j], before_last[j - 2] + 1);
            }
        }
        before_last.swap(last);
        last.swap(current);
    }
    return last[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> candidates) {
    std::size_t smallest = std::max<std::size_t>(1, word.size() / 3) + 1;
    std::string nearest;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < smallest) {
            smallest = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

void throw_unknown_name(std::string_view noun, std::string_view name, std::span<const std::string> known) {
    const std::string nearest = nearest_word(name, known);
    std::string listed;
    for (const std::string& word : known) {
        listed += (listed.empty() ? "" : ", ") + word;
    }
    throw Error(ExitCode::usage, "unknown " + std::string(noun) + " '" + std::string(name) + "'",
                nearest.empty() ? "one of " + listed : "did you mean '" + nearest + "'?");
}

}  // namespace mastic
