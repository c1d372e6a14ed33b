#include <mastic/config/sources.hpp>

#include <algorithm>
#include <set>

#include <mastic/config/text.hpp>
#include <mastic/config/toml_document.hpp>
#include <mastic/core/file.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::config {
namespace {

std::vector<std::string> section_names(const Schema& schema) {
    std::vector<std::string> names;
    for (const Schema::Section& section : schema.sections()) {
        if (!section.name.empty()) {
            names.push_back(section.name);
        }
    }
    return names;
}

void apply_entry(Schema& schema, const TomlEntry& entry, Problems& problems) {
    OptionBase* option = schema.find(entry.key);
    if (schema.has_section(entry.key)) {
        problems.add(entry.key_at, "'" + entry.key + "' is a section: it is written [" + entry.key + "]");
        return;
    }
    if (option == nullptr || !option->has_toml_key()) {
        problems.add(entry.key_at,
                     "unknown key '" + entry.key + "'" + did_you_mean(schema.nearest_key(entry.key)));
        return;
    }
    const std::string subject = "'" + entry.key + "': ";
    if (entry.kind != TomlEntry::Kind::value) {
        const std::string found = entry.kind == TomlEntry::Kind::table ? "a table" : entry.found;
        problems.add(entry.value_at, subject + found + " cannot be its value");
        return;
    }
    try {
        option->set(entry.value, Origin::file, printable(entry.value_at));
    } catch (const Error& error) {
        problems.add(entry.value_at, subject + error.what(), error.hint());
    }
}

bool is_other_variable(const ProgramInfo& program, const std::string& name) {
    return std::ranges::any_of(program.other_variables, [&](const std::string& pattern) {
        return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                      : name == pattern;
    });
}

void set_from_text(OptionBase& option, const std::vector<std::string>& texts, Origin origin,
                   const std::string& where, Problems& problems) {
    try {
        option.set(texts, origin, where);
    } catch (const Error& error) {
        problems.add(where, error);
    }
}

// A variable that starts as those of a section do, with the longest such start.
void report_if_misspelt(const Schema& schema, const std::string& name, Problems& problems) {
    std::string prefix;
    std::vector<std::string> endings;
    for (const OptionBase* option : schema.options()) {
        const std::string known = option->environment_name();
        const std::size_t length = known.size() - std::min(known.size(), option->name().size());
        const std::string start = known.substr(0, length);
        if (start.size() > prefix.size() && name.starts_with(start)) {
            prefix = start;
            endings.clear();
        }
        if (!start.empty() && start == prefix) {
            endings.push_back(known.substr(length));
        }
    }
    if (!prefix.empty()) {
        const std::string near = nearest_word(name.substr(prefix.size()), endings);
        problems.add(name, "this variable is no option" + did_you_mean(near.empty() ? near : prefix + near));
    }
}

}  // namespace

void apply_file(Schema& schema, const std::string& path, Problems& problems) {
    std::vector<TomlEntry> entries;
    try {
        entries = read_toml(read_text_file(path), path);
    } catch (const Error& error) {
        problems.add(error);
        return;
    }
    std::string skipped = "\n";  // an unknown section is one mistake, not one for each key in it
    for (const TomlEntry& entry : entries) {
        if (entry.key.starts_with(skipped)) {
            continue;
        }
        if (entry.kind != TomlEntry::Kind::table || schema.find(entry.key) != nullptr) {
            apply_entry(schema, entry, problems);
            skipped = entry.key + ".";
        } else if (!schema.has_section(entry.key)) {
            problems.add(entry.key_at, "unknown section '" + entry.key + "'" +
                                           did_you_mean(nearest_word(entry.key, section_names(schema))));
            skipped = entry.key + ".";
        }
    }
}

void apply_environment(const ProgramInfo& program, Schema& schema, const Variables& variables,
                       Problems& problems) {
    std::set<std::string> known;
    for (OptionBase* option : schema.options()) {
        const std::string name = option->environment_name();
        const auto found = variables.find(name);
        if (found != variables.end() && !found->second.empty()) {
            set_from_text(*option, {found->second}, Origin::environment, name, problems);
        }
        known.insert(name);
    }
    for (const auto& [name, value] : variables) {
        if (!known.contains(name) && !is_other_variable(program, name)) {
            report_if_misspelt(schema, name, problems);
        }
    }
}

void apply_flags(Schema& schema, const CommandLine& line, Problems& problems) {
    for (OptionBase* option : schema.options()) {
        const auto found = line.flags.find(option->key());
        if (found != line.flags.end()) {
            set_from_text(*option, found->second, Origin::flag, option->flag(), problems);
        }
    }
}

}  // namespace mastic::config
