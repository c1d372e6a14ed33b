#include <mastic/config/invocation.hpp>

#include <algorithm>

#include <mastic/config/text.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::config {
namespace {

void read_standard_flags(const CommandLine& line, Invocation& invocation, Problems& problems) {
    for (const StandardFlag& flag : standard_flags()) {
        const auto found = line.flags.find(std::string(flag.name));
        if (found == line.flags.end()) {
            continue;
        }
        if (flag.text != nullptr) {
            invocation.*flag.text = found->second.back();
            continue;
        }
        try {
            invocation.*flag.on = Codec<bool>::from_text(found->second.back());
        } catch (const Error& error) {
            problems.add("--" + std::string(flag.name), error);
        }
    }
    const std::string& what = invocation.generate;
    if (!what.empty() && std::ranges::find(generators(), what) == generators().end()) {
        problems.add("--generate", "'" + what + "' is not one of " + join(generators()));
    }
}

const Command& find_command(const ProgramInfo& program, const std::string& name) {
    static const Command none;
    const auto found = std::ranges::find(program.commands, name, &Command::name);
    return found != program.commands.end() ? *found : none;
}

std::vector<std::string> command_names(const ProgramInfo& program) {
    std::vector<std::string> names;
    for (const Command& command : program.commands) {
        if (!command.name.empty()) {
            names.push_back(command.name);
        }
    }
    return names;
}

void read_positionals(const ProgramInfo& program, std::vector<std::string> words, Invocation& invocation,
                      Problems& problems) {
    const auto names = command_names(program);
    if (!words.empty() && std::ranges::find(names, words.front()) != names.end()) {
        invocation.command = words.front();
        words.erase(words.begin());
    }
    const bool takes_config = find_command(program, invocation.command).takes_config;
    if (takes_config && !words.empty() && words.front().ends_with(".toml")) {
        if (!invocation.config_file.empty()) {
            problems.add(words.front(), "a configuration file is given by --config already");
        }
        invocation.config_file = words.front();
        words.erase(words.begin());
    }
    invocation.positionals = std::move(words);
}

}  // namespace

Invocation read_invocation(const ProgramInfo& program, const CommandLine& line, Problems& problems) {
    Invocation invocation;
    read_standard_flags(line, invocation, problems);
    read_positionals(program, line.positionals, invocation, problems);
    return invocation;
}

void check_arguments(const ProgramInfo& program, const Invocation& invocation, Problems& problems) {
    const Command& command = find_command(program, invocation.command);
    const auto& given = invocation.positionals;
    const auto& wanted = command.positionals;
    for (std::size_t i = given.size(); i < wanted.size(); ++i) {
        if (wanted[i].required) {
            problems.add(program.name + " " + command.name,
                         wanted[i].name + " is missing: " + wanted[i].help);
        }
    }
    if (given.size() <= wanted.size() || (!wanted.empty() && wanted.back().repeated)) {
        return;
    }
    const std::string& extra = given[wanted.size()];
    const auto names = command_names(program);
    std::string hint;
    if (extra == "true" || extra == "false") {
        hint = "a switch takes its value behind '=': --section.key=" + extra;
    } else if (extra.ends_with(".toml") && command.takes_config) {
        hint = "only one configuration file can be given";
    }
    const std::string near = command.name.empty() ? nearest_word(extra, names) : "";
    problems.add(extra,
                 (command.name.empty() && !names.empty() ? "neither a command nor a .toml file"
                                                         : "unexpected argument") +
                     did_you_mean(near),
                 hint);
}

}  // namespace mastic::config
