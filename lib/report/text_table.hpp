// A table for the terminal: columns aligned, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace mastic::report {

struct TextTable {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;  // shorter rows are filled with empty cells
};

// Columns are two blanks apart; a column whose cells all start like a number (or are "-") is set to the
// right. Widths count UTF-8 characters. Every line ends with a line break and none with blanks.
std::string to_text(const TextTable& table);

}  // namespace mastic::report
