// What a program is besides its options: its commands, its manual's texts, and what one call of it asks for.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mastic::config {

struct Positional {
    std::string name;  // "RUN_DIR"
    std::string help;
    bool required = false;
    bool repeated = false;  // only the last one of a command
};

struct Command {
    std::string name;  // "" is what runs without a command
    std::string help;
    std::vector<Positional> positionals;
    bool takes_config = true;  // a first argument that ends in .toml is the configuration
};

struct ProgramInfo {
    std::string name;      // "mastic-train"
    std::string one_line;  // after the name in help and manual
    std::string version;
    std::string description;  // paragraphs separated by an empty line
    std::vector<Command> commands;
    std::vector<std::pair<std::string, std::string>> examples;  // command line, what it does
    std::vector<std::pair<int, std::string>> exit_codes;
    // MASTIC_ variables that look like options but are not: names, or prefixes that end in '*'
    // ("MASTIC_BLAS_*").
    std::vector<std::string> other_variables;
};

// What one call asks for.
struct Invocation {
    std::string command;
    std::vector<std::string> positionals;
    std::string config_file;  // "" if none
    bool dry_run = false;
    bool print_config = false;
    bool version = false;
    bool json = false;
    bool help = false;
    bool help_all = false;
    std::string generate;            // "man", "bash-completion" or ""
    std::set<std::string> switches;  // the plain switches (Schema::flag) that were given and are true
};

// The flags that every program has.
struct StandardFlag {
    std::string_view name;
    std::string_view value;  // "" for a switch
    std::string_view help;
    bool Invocation::*on = nullptr;           // set by a switch
    std::string Invocation::*text = nullptr;  // set by a flag with a value
};
const std::vector<StandardFlag>& standard_flags();
const StandardFlag* find_standard_flag(std::string_view name);

// The values that --generate takes.
const std::vector<std::string>& generators();

}  // namespace mastic::config
