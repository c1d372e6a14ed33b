#include <mastic/config/toml_document.hpp>

#include <algorithm>
#include <cctype>
#include <optional>

#include <toml++/toml.h>

#include <mastic/config/text.hpp>
#include <mastic/core/caret.hpp>
#include <mastic/core/error.hpp>

namespace mastic::config {
namespace {

std::string place(const std::string& name, const toml::source_position& position) {
    return name + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
}

std::string key_part(std::string_view key) {
    const bool bare = !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-';
    });
    return bare ? std::string(key) : quote_toml(printable(key));
}

// The scalar in a node, if an option could have it.
std::optional<Scalar> scalar_of(const toml::node& node) {
    if (const auto* flag = node.as_boolean()) {
        return flag->get();
    }
    if (const auto* integer = node.as_integer()) {
        return integer->get();
    }
    if (const auto* number = node.as_floating_point()) {
        return number->get();
    }
    if (const auto* text = node.as_string()) {
        return text->get();
    }
    return std::nullopt;
}

std::string what_is(const toml::node& node) {
    if (node.is_table()) {
        return "a table";
    }
    if (const auto* list = node.as_array()) {
        return list->is_homogeneous<toml::table>() && !list->empty() ? "an array of tables"
                                                                     : "a list of lists";
    }
    return "a date or time without quotes";
}

void fill_value(const toml::node& node, TomlEntry& entry) {
    const auto take = [&entry](const toml::node& item) {
        if (const auto scalar = scalar_of(item)) {
            entry.value.items.push_back(*scalar);
        } else {
            entry.kind = TomlEntry::Kind::unsupported;
        }
    };
    if (const auto* list = node.as_array()) {
        entry.value.is_list = true;
        std::for_each(list->begin(), list->end(), take);
    } else {
        take(node);
    }
    if (entry.kind == TomlEntry::Kind::unsupported) {
        entry.found = what_is(node);
    }
}

constexpr int deepest = 32;  // tables in tables; no option lies that deep, and each level takes stack

void flatten(const toml::table& table, const std::string& prefix, const std::string& name, int depth,
             std::vector<TomlEntry>& entries) {
    std::vector<std::pair<const toml::key*, const toml::node*>> nodes;
    for (const auto& [key, node] : table) {
        nodes.emplace_back(&key, &node);
    }
    // The library sorts by name; people read their mistakes in the order of the file.
    std::ranges::stable_sort(nodes, [](const auto& a, const auto& b) {
        return a.first->source().begin < b.first->source().begin;
    });
    for (const auto& [key, node] : nodes) {
        TomlEntry entry;
        entry.key = prefix + key_part(key->str());
        entry.key_at = place(name, key->source().begin);
        entry.value_at = place(name, node->source().begin);
        const auto* inner = node->as_table();
        if (inner != nullptr) {
            entry.kind = TomlEntry::Kind::table;
        } else {
            fill_value(*node, entry);
        }
        entries.push_back(entry);
        if (inner != nullptr && depth == deepest) {
            throw Error(ExitCode::usage, entry.key_at + ": tables are nested too deeply");
        }
        if (inner != nullptr) {
            flatten(*inner, entry.key + ".", name, depth + 1, entries);
        }
    }
}

std::string line_of(std::string_view text, std::size_t number) {
    for (; number > 1 && text.find('\n') != std::string_view::npos; --number) {
        text.remove_prefix(text.find('\n') + 1);
    }
    text = text.substr(0, text.find('\n'));
    if (text.ends_with('\r')) {
        text.remove_suffix(1);
    }
    if (text.starts_with("\xef\xbb\xbf")) {
        text.remove_prefix(3);
    }
    return printable(text);
}

// The value in a line `key = value  # comment`, roughly.
std::string value_in(const std::string& line) {
    const auto start = line.find_first_not_of(" \t", line.find('=') + 1);
    const std::string value = line.substr(std::min(start, line.size()));
    return value.substr(0, value.find_last_not_of(" \t", value.find('#') - 1) + 1);
}

// What the writer of a line that is not TOML probably wants to know.
std::string advice(const std::string& line, std::string_view reason) {
    if (reason.find("redefine") != std::string_view::npos) {
        return "a key appears once, and so does a [section]";
    }
    if (reason.find("utf-8") != std::string_view::npos) {
        return "save the file as UTF-8";
    }
    if (line.find('=') == std::string::npos) {
        return line.find('[') == std::string::npos ? "a line is `key = value` or `[section]`"
                                                   : "a section is written [name], alone on its line";
    }
    const std::string value = value_in(line);
    if (std::ranges::count(value, '"') % 2 != 0 || std::ranges::count(value, '\'') % 2 != 0) {
        return "close the text with the quote it was opened with";
    }
    if (value.empty()) {
        return "write a value behind the `=`";
    }
    if (value.front() == '[') {
        return "a list is written [1, 2, 3]";
    }
    if (std::isdigit(static_cast<unsigned char>(value.front())) != 0 || value.find_first_of(".+-") == 0) {
        return "a number has digits on both sides of its point (0.1, 1.0, 1e-3) and at most 64 bits; sizes "
               "and times with "
               "units are text in quotes (\"64K\", \"10m\")";
    }
    return "text stands in quotes: key = \"value\"";
}

[[noreturn]] void fail(const toml::parse_error& error, std::string_view text, const std::string& name) {
    const auto& position = error.source().begin;
    const std::string line = line_of(text, position.line);
    std::string message = place(name, position) + ": not valid TOML: " + printable(error.description());
    if (!line.empty() && line.size() <= 120) {
        message += with_caret(line, std::min<std::size_t>(std::max(position.column, 1u) - 1, line.size()));
    }
    throw Error(ExitCode::usage, message, advice(line, error.description()));
}

}  // namespace

std::vector<TomlEntry> read_toml(std::string_view text, const std::string& name) {
    std::vector<TomlEntry> entries;
    try {
        flatten(toml::parse(text, name), "", name, 0, entries);
    } catch (const toml::parse_error& error) {
        fail(error, text, name);
    }
    return entries;
}

}  // namespace mastic::config
