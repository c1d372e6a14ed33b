// Tables of numbers as text. Source: RFC 4180, read generously: LF, CRLF or CR ends a row; a byte-order mark
// is skipped;
// ',', ';' or a tab separates cells (the most frequent in the first row); cells may be quoted; blank rows are
// skipped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::data {

struct CsvTable {
    std::vector<std::string> header;  // empty if the first row is already numbers
    std::size_t rows = 0;             // without the header
    std::size_t columns = 0;
    std::vector<double> values;  // (rows, columns)
};

// The first row is a header if any of its cells is no number. Gzip is undone. Error(data) names the row
// (counted from 1, header and blank rows included) and column of a ragged row, an empty or non-numeric cell,
// an open quote.
CsvTable read_csv_file(const std::filesystem::path& path);

// Finds a column by its name in the header, by its index ("0" is the first, "-1" the last), or the last one
// for "". Error(data) lists what there is.
std::size_t column_index(const CsvTable& table, std::string_view column, const std::string& source);

}  // namespace mastic::data
