// The resolved configuration, as --print-config writes it, for a table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mastic::report {

struct ConfigLine {
    std::string key;      // "train.batch"
    std::string value;    // without quotes around it
    std::string comment;  // after '#', such as the origin
};

// Reads TOML in its plain form: [section] lines, one "key = value" a line, comments. Empty result if anything
// else stands there: then it is better shown as it is.
std::optional<std::vector<ConfigLine>> config_listing(std::string_view toml);

}  // namespace mastic::report
