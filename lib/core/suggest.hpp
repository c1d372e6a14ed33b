// "Did you mean": the nearest of the known words.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mastic {

// The candidate with the smallest edit distance (Damerau-Levenshtein, in the form where no part is edited
// twice), the first of equals. Empty if it is further than a third of the word's length; one edit is always
// allowed.
std::string nearest_word(std::string_view word, std::span<const std::string> candidates);

// Error(usage): "unknown NOUN 'NAME'", with the nearest known name or all of them as the hint.
[[noreturn]] void throw_unknown_name(std::string_view noun, std::string_view name, std::span<const std::string> known);

}  // namespace mastic
