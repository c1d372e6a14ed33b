#include <mastic/core/caret.hpp>

#include <algorithm>

namespace mastic {

std::string with_caret(std::string_view text, std::size_t position) {
    std::string line(text);
    // A tab or line break in the text would move the caret's column.
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return "\n    " + line + "\n    " + std::string(std::min(position, text.size()), ' ') + "^";
}

}  // namespace mastic
