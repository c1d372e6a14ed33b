// Shows people where in their text a mistake is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mastic {

// Two indented lines to append to a message, the text and a caret under the character at `position` (0-based;
// the text's length points behind its end):
//   "\n    1:2x\n       ^"
std::string with_caret(std::string_view text, std::size_t position);

}  // namespace mastic
