// The little that reports need to know of UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mastic::report {

// Code points; bytes of broken sequences count one each.
std::size_t character_count(std::string_view text);

// Bytes that are not valid UTF-8, and control characters other than tab and line break, become U+FFFD.
std::string valid_utf8(std::string_view text);

// At most so many code points; if some are cut off, the last one kept becomes "…".
std::string shortened(std::string_view text, std::size_t characters);

}  // namespace mastic::report
