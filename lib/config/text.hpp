// Small operations on text that the parts of this folder share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mastic::config {

bool is_utf8(std::string_view text);

// One line that is safe to show: control characters and broken UTF-8 become '?'.
std::string printable(std::string_view text);

// Breaks at blanks into lines of at most `width` characters (longer words stand alone).
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// "a, b, c"
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

// "; did you mean 'WORD'?", or nothing if there is no suggestion.
std::string did_you_mean(const std::string& suggestion);

}  // namespace mastic::config
