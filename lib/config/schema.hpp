// All options of a program, in the order of declaration.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mastic/config/option.hpp>

namespace mastic::config {

class Schema {
  public:
    // `key` is "section.key" (sections may be nested) in lower case with '_' or '-' inside, or a name without
    // a point for a flag that files and the environment do not have. `target` must outlive the schema.
    template <OptionType T>
    Option<T>& option(const std::string& key, T& target, const std::string& help) {
        auto declared = std::make_unique<Option<T>>(key, target, help);
        Option<T>& reference = *declared;
        add(std::move(declared));
        return reference;
    }
    // A plain switch: --name.
    Option<bool>& flag(const std::string& name, bool& target, const std::string& help) {
        return option(name, target, help);
    }
    // Text above the section's options in help and manual. Sections appear in the order in which they are
    // first named.
    void section(const std::string& name, const std::string& help);

    struct Section {
        std::string name;  // "" holds the flags without a TOML key
        std::string help;
        std::vector<const OptionBase*> options;
    };
    const std::vector<Section>& sections() const { return sections_; }
    std::vector<OptionBase*> options();
    std::vector<const OptionBase*> options() const;
    const OptionBase* find(const std::string& key) const;
    OptionBase* find(const std::string& key);
    std::vector<std::string> keys() const;  // TOML keys only

    // The key that an unknown one probably means, "" if none: nearly the same name in the same section, the same name in
    // another section, or, if there is no such section, nearly the same key.
    std::string nearest_key(const std::string& unknown) const;

    // Is `path` a table that holds options, directly or deeper?
    bool has_section(const std::string& path) const;

    // Checks the declarations themselves: key syntax, defaults within their limits, two options with one
    // variable name. Throws std::logic_error: a mistake in the program.
    void verify() const;

  private:
    void add(std::unique_ptr<OptionBase> option);
    Section& section_named(const std::string& name);

    std::vector<std::unique_ptr<OptionBase>> options_;
    std::vector<Section> sections_;
};

}  // namespace mastic::config
