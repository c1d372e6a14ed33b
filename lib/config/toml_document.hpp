// A TOML file as a flat list of its keys, each with its place. Hides the TOML library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/config/value.hpp>

namespace mastic::config {

struct TomlEntry {
    enum class Kind {
        value,
        table,        // comes before the entries inside it
        unsupported,  // something no option can be; `found` says what
    };

    std::string
        key;  // "section.key"; a part that contains anything but letters, digits, '_' and '-' is quoted
    Kind kind = Kind::value;
    Value value;
    std::string found;     // "a date", "a list of lists", "an array of tables"
    std::string key_at;    // "run.toml:3:1"
    std::string value_at;  // "run.toml:3:9"
};

// `name` is the file's name in places. A byte order mark and CRLF line ends are accepted. Throws Error(usage)
// as "NAME:LINE:COLUMN: not valid TOML: ...", with the line and a caret, and a hint on how to write it.
std::vector<TomlEntry> read_toml(std::string_view text, const std::string& name);

}  // namespace mastic::config
