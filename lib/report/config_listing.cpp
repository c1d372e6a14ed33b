#include <mastic/report/config_listing.hpp>

#include <algorithm>

namespace mastic::report {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Where a comment starts: at the first '#' outside quotes.
std::size_t comment_start(std::string_view line) {
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quote == '"' && line[i] == '\\') {
            ++i;
        } else if (quote != '\0') {
            quote = line[i] == quote ? '\0' : quote;
        } else if (line[i] == '"' || line[i] == '\'') {
            quote = line[i];
        } else if (line[i] == '#') {
            return i;
        }
    }
    return line.size();
}

std::string without_quotes(std::string_view value) {
    const bool quoted =
        value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0];
    const auto inside = quoted ? value.substr(1, value.size() - 2) : value;
    return std::string(inside.find_first_of("\"'\\") == std::string_view::npos ? inside : value);
}

}  // namespace

std::optional<std::vector<ConfigLine>> config_listing(std::string_view toml) {
    std::vector<ConfigLine> lines;
    std::string section;
    while (!toml.empty()) {
        const std::string_view line = toml.substr(0, toml.find('\n'));
        toml.remove_prefix(std::min(toml.size(), line.size() + 1));
        const std::size_t comment = comment_start(line);
        const std::string_view content = trimmed(line.substr(0, comment));
        if (content.empty()) {
            continue;
        }
        if (content.front() == '[' && content.back() == ']') {
            section = std::string(trimmed(content.substr(1, content.size() - 2))) + ".";
            continue;
        }
        const auto equals = content.find('=');
        if (equals == std::string_view::npos) {
            return std::nullopt;
        }
        const std::string_view remark = comment < line.size() ? trimmed(line.substr(comment + 1)) : "";
        lines.push_back({section + std::string(trimmed(content.substr(0, equals))),
                         without_quotes(trimmed(content.substr(equals + 1))), std::string(remark)});
    }
    return lines;
}

}  // namespace mastic::report
