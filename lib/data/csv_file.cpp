#include <mastic/data/csv_file.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include <mastic/core/error.hpp>
#include <mastic/core/suggest.hpp>
#include <mastic/data/content_kind.hpp>
#include <mastic/data/file_content.hpp>

namespace mastic::data {

namespace {

std::string_view trimmed(std::string_view cell) {
    const auto first = cell.find_first_not_of(" \t");
    return first == std::string_view::npos ? ""
                                           : cell.substr(first, cell.find_last_not_of(" \t") - first + 1);
}

std::optional<double> parse_number(std::string_view cell) {
    auto text = trimmed(cell);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') {
        text.remove_prefix(1);
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

char separator_of(std::string_view text) {
    const auto row = text.substr(0, text.find_first_of("\r\n"));
    char best = ',';
    for (const char candidate : {';', '\t'}) {
        if (std::count(row.begin(), row.end(), candidate) > std::count(row.begin(), row.end(), best)) {
            best = candidate;
        }
    }
    return best;
}

// Splits text into rows of cells; quotes may contain separators and line ends.
class RowReader {
  public:
    RowReader(std::string_view text, const std::string& source)
        : rest_(text), separator_(separator_of(text)), source_(source) {}

    std::size_t row_number() const { return row_; }  // of the row read last, from 1

    bool read(std::vector<std::string>& cells) {
        std::size_t count = 0;
        while (!rest_.empty()) {
            ++row_;
            count = 0;
            do {
                if (count == cells.size()) {
                    cells.emplace_back();
                }
                read_cell(cells[count++]);
            } while (accept_separator());
            skip_line_end();
            if (count > 1 || !trimmed(cells[0]).empty()) {
                break;
            }
            count = 0;
        }
        cells.resize(count);
        return count > 0;
    }

  private:
    void read_cell(std::string& cell) {
        cell.clear();
        if (rest_.starts_with('"')) {
            read_quoted(cell);
            return;
        }
        const char ends[] = {separator_, '\r', '\n'};
        const auto length = std::min(rest_.find_first_of(std::string_view(ends, 3)), rest_.size());
        cell.assign(rest_.substr(0, length));
        rest_.remove_prefix(length);
    }

    void read_quoted(std::string& cell) {
        rest_.remove_prefix(1);
        for (;;) {
            const auto quote = rest_.find('"');
            if (quote == std::string_view::npos) {
                fail("a quote is not closed");
            }
            cell.append(rest_.substr(0, quote));
            rest_.remove_prefix(quote + 1);
            if (!rest_.starts_with('"')) {
                break;
            }
            cell += '"';
            rest_.remove_prefix(1);
        }
        if (!rest_.empty() && rest_[0] != separator_ && rest_[0] != '\r' && rest_[0] != '\n') {
            fail("there is text after a closing quote");
        }
    }

    bool accept_separator() {
        const bool found = rest_.starts_with(separator_);
        rest_.remove_prefix(found ? 1 : 0);
        return found;
    }

    void skip_line_end() { rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : rest_.empty() ? 0 : 1); }

    [[noreturn]] void fail(const std::string& reason) const {
        throw Error(ExitCode::data, source_ + ": row " + std::to_string(row_) + ": " + reason,
                    "repair this row");
    }

    std::string_view rest_;
    char separator_;
    const std::string& source_;
    std::size_t row_ = 0;
};

void append_row(CsvTable& table, const std::vector<std::string>& cells, std::size_t row,
                const std::string& source) {
    const auto where = source + ": row " + std::to_string(row);
    if (cells.size() != table.columns) {
        throw Error(ExitCode::data,
                    where + " has " + std::to_string(cells.size()) + " cells, the rows before it have " +
                        std::to_string(table.columns),
                    "repair this row, or quote the cells that contain the separator");
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto value = parse_number(cells[i]);
        if (!value) {
            const auto name = table.header.empty() ? "" : " ('" + table.header[i] + "')";
            throw Error(
                ExitCode::data,
                where + ", column " + std::to_string(i + 1) + name +
                    (trimmed(cells[i]).empty() ? " is empty"
                                               : ": '" + cells[i].substr(0, 40) + "' is no number"),
                "tables must be numbers only: encode words as numbers, fill or remove missing values");
        }
        table.values.push_back(*value);
    }
    ++table.rows;
}

std::string_view text_of(const FileContent& content, const std::string& source) {
    const auto kind = kind_of(content.bytes);
    if (kind != ContentKind::text) {
        throw Error(ExitCode::data, source + ": no CSV file: the content " + describe_content(content.bytes),
                    "fetch the file again, or name its true format with --data.format");
    }
    std::string_view text(reinterpret_cast<const char*>(content.bytes.data()), content.bytes.size());
    text.remove_prefix(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    return text;
}

}  // namespace

CsvTable read_csv_file(const std::filesystem::path& path) {
    const auto source = path.string();
    const auto content = read_content(path);
    RowReader reader(text_of(content, source), source);
    CsvTable table;
    std::vector<std::string> cells;
    while (reader.read(cells)) {
        if (table.columns == 0) {
            table.columns = cells.size();
            const auto is_number = [](const std::string& cell) { return parse_number(cell).has_value(); };
            if (!std::all_of(cells.begin(), cells.end(), is_number)) {
                std::transform(cells.begin(), cells.end(), std::back_inserter(table.header),
                               [](const std::string& cell) { return std::string(trimmed(cell)); });
                continue;
            }
        }
        append_row(table, cells, reader.row_number(), source);
    }
    return table;
}

std::size_t column_index(const CsvTable& table, std::string_view column, const std::string& source) {
    const auto named = std::find(table.header.begin(), table.header.end(), column);
    if (named != table.header.end() && !column.empty()) {
        return static_cast<std::size_t>(named - table.header.begin());
    }
    const auto columns = static_cast<std::int64_t>(table.columns);
    std::int64_t index = column.empty() ? -1 : columns;
    const char* const end = column.data() + column.size();
    if (std::from_chars(column.data(), end, index).ptr != end) {
        index = columns;
    }
    if (index >= -columns && index < columns) {
        return static_cast<std::size_t>(index < 0 ? index + columns : index);
    }
    std::string names;
    for (const auto& name : table.header) {
        names += (names.empty() ? "" : ", ") + name;
    }
    const auto nearest = nearest_word(column, table.header);
    throw Error(ExitCode::data,
                source + ": no column '" + std::string(column) + "' among the " +
                    std::to_string(table.columns) +
                    (names.empty() ? ", which have no names" : ": " + names.substr(0, 400)),
                nearest.empty() ? "name a column of the header, or give its index (-1: the last)"
                                : "did you mean '" + nearest + "'?");
}

}  // namespace mastic::data
