#include <mastic/config/resolved.hpp>

#include <algorithm>
#include <set>
#include <span>

#include <mastic/config/text.hpp>
#include <mastic/config/toml_document.hpp>
#include <mastic/core/checksum.hpp>

namespace mastic::config {
namespace {

bool same_value(const OptionBase& option, const TomlEntry& entry) {
    try {
        return entry.kind == TomlEntry::Kind::value && option.equals(entry.value);
    } catch (const Error&) {
        return false;  // the type has changed since
    }
}

std::string shown(const TomlEntry& entry) {
    if (entry.kind == TomlEntry::Kind::value) {
        return describe(entry.value);
    }
    return entry.kind == TomlEntry::Kind::table ? "a table" : entry.found;
}

}  // namespace

std::string to_toml(const Schema& schema, bool with_origins) {
    std::string text;
    for (const Schema::Section& section : schema.sections()) {
        if (section.name.empty() || section.options.empty()) {
            continue;
        }
        text += (text.empty() ? "[" : "\n[") + section.name + "]\n";
        for (const OptionBase* option : section.options) {
            text += option->name() + " = " + option->toml();
            text += with_origins ? "  # " + printable(option->origin_text()) + "\n" : "\n";
        }
    }
    return text;
}

std::map<std::string, std::string> values(const Schema& schema) {
    std::map<std::string, std::string> texts;
    for (const OptionBase* option : schema.options()) {
        if (option->has_toml_key()) {
            texts[option->key()] = option->text();
        }
    }
    return texts;
}

std::string fingerprint(const Schema& schema, const std::vector<std::string>& without) {
    std::string text;
    for (const auto& [key, value] : values(schema)) {
        if (std::ranges::none_of(without, [&key](const std::string& prefix) { return key.starts_with(prefix); })) {
            text += key + "=" + value + "\n";
        }
    }
    return to_hex(checksum(std::as_bytes(std::span(text))));
}

std::string Change::text() const {
    const auto or_absent = [](const std::string& value) { return value.empty() ? "(absent)" : value; };
    return key + ": " + or_absent(stored) + " -> " + or_absent(now);
}

std::vector<Change> compare(const Schema& schema, std::string_view stored_toml, const std::string& name) {
    std::vector<Change> changes;
    std::set<std::string> stored_keys;
    for (const TomlEntry& entry : read_toml(stored_toml, name)) {
        const OptionBase* option = schema.find(entry.key);
        const bool known = option != nullptr && option->has_toml_key();
        if (known && !same_value(*option, entry)) {
            changes.push_back({entry.key, shown(entry), option->toml(), option->resume_rule()});
        } else if (!known && entry.kind != TomlEntry::Kind::table) {
            changes.push_back({entry.key, shown(entry), "", OnResume::free});
        }
        stored_keys.insert(entry.key);
    }
    for (const OptionBase* option : schema.options()) {
        if (option->has_toml_key() && !stored_keys.contains(option->key()) &&
            option->text() != option->default_text()) {
            changes.push_back({option->key(), "", option->toml(), option->resume_rule()});
        }
    }
    std::erase_if(changes, [](const Change& change) { return change.rule == OnResume::ignore; });
    return changes;
}

}  // namespace mastic::config
