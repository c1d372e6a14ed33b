// The words of a command line sorted into flags with their values, and the rest. Hides the library that does
// it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <mastic/config/problems.hpp>
#include <mastic/config/schema.hpp>

namespace mastic::config {

struct CommandLine {
    std::map<std::string, std::vector<std::string>>
        flags;  // key -> values in the order given; "true" for a switch
    std::vector<std::string> positionals;
};

// `--key VALUE`, `--key=VALUE`, `--switch`, `--switch=false`; behind `--` everything is positional. Unknown
// flags and missing values are added to `problems`. The standard flags are known without being in the schema.
CommandLine split_command_line(const Schema& schema, const std::vector<std::string>& arguments,
                               Problems& problems);

}  // namespace mastic::config
