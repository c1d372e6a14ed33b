// Words as a POSIX shell reads them back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mastic::job {

// As it is where that is safe, else in single quotes.
std::string shell_word(std::string_view word);
std::string shell_text(const std::vector<std::string>& words);  // separated by blanks

}  // namespace mastic::job
