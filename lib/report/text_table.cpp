#include <mastic/report/text_table.hpp>

#include <algorithm>
#include <cctype>

#include <mastic/report/utf8.hpp>

namespace mastic::report {
namespace {

const std::string& cell(const std::vector<std::string>& row, std::size_t column) {
    static const std::string empty;
    return column < row.size() ? row[column] : empty;
}

bool like_a_number(const std::string& text) {
    if (text.empty() || text == "-" || text == "nan" || text == "inf") {
        return true;
    }
    const std::size_t start = text[0] == '-' || text[0] == '+' ? 1 : 0;
    return start < text.size() && std::isdigit(static_cast<unsigned char>(text[start])) != 0;
}

struct Column {
    std::size_t width = 0;
    bool numeric = true;
};

std::string line(const std::vector<std::string>& row, const std::vector<Column>& columns) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::string& content = cell(row, i);
        const std::string padding(columns[i].width - character_count(content), ' ');
        text += (i == 0 ? "" : "  ") + (columns[i].numeric ? padding + content : content + padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

}  // namespace

std::string to_text(const TextTable& table) {
    std::size_t count = table.header.size();
    for (const auto& row : table.rows) {
        count = std::max(count, row.size());
    }
    std::vector<Column> columns(count);
    for (std::size_t i = 0; i < count; ++i) {
        columns[i].width = character_count(cell(table.header, i));
        for (const auto& row : table.rows) {
            columns[i].width = std::max(columns[i].width, character_count(cell(row, i)));
            columns[i].numeric = columns[i].numeric && like_a_number(cell(row, i));
        }
    }
    std::string text = line(table.header, columns);
    for (const auto& row : table.rows) {
        text += line(row, columns);
    }
    return text;
}

}  // namespace mastic::report
