#include <mastic/config/schema.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>

#include <mastic/config/program.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::config {
namespace {

bool well_formed(const std::string& key) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    };
    return !key.empty() && std::ranges::all_of(key, allowed) && key.front() >= 'a' && key.front() <= 'z' &&
           key.back() != '.' && key.find("..") == std::string::npos;
}

}  // namespace

void Schema::add(std::unique_ptr<OptionBase> option) {
    if (find(option->key()) != nullptr) {
        throw std::logic_error("option " + option->key() + " is declared twice");
    }
    section_named(option->section()).options.push_back(option.get());
    options_.push_back(std::move(option));
}

void Schema::section(const std::string& name, const std::string& help) {
    section_named(name).help = help;
}

Schema::Section& Schema::section_named(const std::string& name) {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found != sections_.end() ? *found : sections_.emplace_back(Section{name, "", {}});
}

std::vector<OptionBase*> Schema::options() {
    std::vector<OptionBase*> all;
    for (const auto& option : options_) {
        all.push_back(option.get());
    }
    return all;
}

std::vector<const OptionBase*> Schema::options() const {
    std::vector<const OptionBase*> all;
    for (const auto& option : options_) {
        all.push_back(option.get());
    }
    return all;
}

const OptionBase* Schema::find(const std::string& key) const {
    const auto found = std::ranges::find(options_, key, [](const auto& option) { return option->key(); });
    return found != options_.end() ? found->get() : nullptr;
}

OptionBase* Schema::find(const std::string& key) {
    return const_cast<OptionBase*>(std::as_const(*this).find(key));
}

std::vector<std::string> Schema::keys() const {
    std::vector<std::string> all;
    for (const auto& option : options_) {
        if (option->has_toml_key()) {
            all.push_back(option->key());
        }
    }
    return all;
}

std::string Schema::nearest_key(const std::string& unknown) const {
    const std::size_t point = unknown.rfind('.');
    const std::string section = point == std::string::npos ? "" : unknown.substr(0, point);
    const std::string name = unknown.substr(point + 1);
    std::vector<std::string> beside;
    std::string elsewhere;
    for (const auto& option : options_) {
        if (option->has_toml_key() && option->section() == section) {
            beside.push_back(option->name());
        }
        if (option->has_toml_key() && option->name() == name) {
            elsewhere = option->key();
        }
    }
    if (const std::string near = nearest_word(name, beside); !near.empty()) {
        return section + "." + near;
    }
    return elsewhere.empty() && beside.empty() ? nearest_word(unknown, keys()) : elsewhere;
}

bool Schema::has_section(const std::string& path) const {
    return std::ranges::any_of(options_,
                               [&](const auto& option) { return option->key().starts_with(path + "."); });
}

void Schema::verify() const {
    std::map<std::string, std::string> variables;
    for (const auto& option : options_) {
        const std::string& key = option->key();
        if (!well_formed(key)) {
            throw std::logic_error("option key '" + key + "' is not lower-case words joined by points");
        }
        if (has_section(key)) {
            throw std::logic_error("option " + key + " is also the name of a section");
        }
        if (find_standard_flag(key) != nullptr) {
            throw std::logic_error("option " + key + " is a standard flag of every program");
        }
        const std::string variable = option->environment_name();
        if (!variable.empty() && !variables.emplace(variable, key).second) {
            throw std::logic_error("options " + variables[variable] + " and " + key + " share " + variable);
        }
        option->verify_default();
    }
}

}  // namespace mastic::config
