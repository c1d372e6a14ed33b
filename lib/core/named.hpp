// Tables of named choices: entries with at least `const char* name`, mostly also a description.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/suggest.hpp>

namespace mastic {

// Null: there is none of that name.
template <class Table>
auto find_named(const Table& table, std::string_view name) {
    for (const auto& entry : table) {
        if (name == entry.name) {
            return &entry;
        }
    }
    return decltype(&*std::begin(table)){nullptr};
}

// Throws Error(usage): "unknown wire 'bfloat'", "did you mean 'bfloat16'?" or "one of exact, bfloat16, float16".
template <class Table>
const auto& require_named(const Table& table, std::string_view name, std::string_view noun) {
    if (const auto* entry = find_named(table, name)) {
        return *entry;
    }
    std::vector<std::string> known;
    for (const auto& entry : table) {
        known.emplace_back(entry.name);
    }
    throw_unknown_name(noun, name, known);
}

}  // namespace mastic
