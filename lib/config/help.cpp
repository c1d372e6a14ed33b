#include <mastic/config/help.hpp>

#include <algorithm>

#include <mastic/config/text.hpp>

namespace mastic::config {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t description_column = 30;

std::string indented(std::string_view text, std::size_t indent) {
    std::string lines;
    for (const std::string& line : wrap(text, width - indent)) {
        lines += std::string(indent, ' ') + line + "\n";
    }
    return lines;
}

// A term with its description beside it, or below it if the term is long.
std::string entry(const std::string& term, const std::string& description) {
    std::string text = indented(description, description_column);
    const std::string head = "  " + term;
    if (text.empty() || head.size() + 2 > description_column) {
        return head + "\n" + text;
    }
    return text.replace(0, head.size(), head);
}

std::string paragraphs(std::string_view text) {
    std::string lines;
    while (!text.empty()) {
        const std::size_t end = text.find("\n\n");
        std::string paragraph(text.substr(0, end));
        std::ranges::replace(paragraph, '\n', ' ');
        lines += indented(paragraph, 0) + "\n";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    }
    return lines;
}

std::string commands(const ProgramInfo& program) {
    std::string text;
    for (const Command& command : program.commands) {
        const std::string arguments = argument_synopsis(command);
        const std::string call =
            command.name + (command.name.empty() || arguments.empty() ? "" : " ") + arguments;
        text += entry(call.empty() ? "(none)" : call, command.help);
        for (const Positional& positional : command.positionals) {
            text += positional.help.empty() ? "" : entry("    " + positional.name, positional.help);
        }
    }
    return text.empty() ? "" : "commands:\n" + text + "\n";
}

std::string section_text(const Schema::Section& section, bool everything) {
    std::string text;
    for (const OptionBase* option : section.options) {
        if (!everything && option->is_advanced()) {
            continue;
        }
        const std::string more = remarks(*option);
        text += entry(flag_with_value(*option), option->help() + (more.empty() ? "" : " (" + more + ")"));
    }
    if (text.empty()) {
        return "";
    }
    const std::string title = section.name.empty()
                                  ? "switches:"
                                  : section.name + (section.help.empty() ? ":" : ": " + section.help);
    return indented(title, 0) + text + "\n";
}

std::string table_of(const std::vector<std::pair<std::string, std::string>>& rows, const std::string& title) {
    std::string text;
    for (const auto& [term, description] : rows) {
        text += entry(term, description);
    }
    return text.empty() ? "" : title + ":\n" + text + "\n";
}

}  // namespace

std::string remarks(const OptionBase& option) {
    std::string text = option.limits();
    const std::string fallback = option.default_text();
    const bool say_default = !fallback.empty() && !(option.is_switch() && fallback == "false");
    if (say_default) {
        text += (text.empty() ? "default " : "; default ") + fallback;
    }
    return text;
}

std::string flag_with_value(const OptionBase& option) {
    return option.is_switch() ? option.flag() : option.flag() + " " + option.value_name();
}

std::string flag_with_value(const StandardFlag& flag) {
    const std::string name = (flag.name == "help" ? "-h, --" : "--") + std::string(flag.name);
    return flag.value.empty() ? name : name + " " + std::string(flag.value);
}

std::string argument_synopsis(const Command& command) {
    std::vector<std::string> words;
    if (command.takes_config) {
        words.emplace_back("[CONFIG.toml]");
    }
    for (const Positional& positional : command.positionals) {
        const std::string name = positional.name + (positional.repeated ? "..." : "");
        words.push_back(positional.required ? name : "[" + name + "]");
    }
    return join(words, " ");
}

std::string help_text(const ProgramInfo& program, const Schema& schema, bool everything) {
    std::string text = program.name + " " + program.version + ": " + program.one_line + "\n\n";
    const bool has_commands =
        std::ranges::any_of(program.commands, [](const auto& c) { return !c.name.empty(); });
    text += "usage: " + program.name + (has_commands ? " [COMMAND]" : "") +
            " [CONFIG.toml] [--section.key VALUE]...\n\n";
    text += everything ? paragraphs(program.description) : "";
    text += commands(program);
    for (const Schema::Section& section : schema.sections()) {
        text += section_text(section, everything);
    }
    std::string standard;
    for (const StandardFlag& flag : standard_flags()) {
        standard += entry(flag_with_value(flag), std::string(flag.help));
    }
    text += "in every program:\n" + standard + "\n";
    text += paragraphs(
        "An option --section.key is also `key` under [section] of the TOML file and the variable "
        "MASTIC_SECTION_KEY. "
        "The flag wins over the variable, the variable over the file. A SIZE takes K, M, G, T (binary); a "
        "TIME is in "
        "seconds or takes ms, s, m, h, d or Slurm's forms (1:30:00).");
    text += table_of(program.examples, "examples");
    if (everything) {
        std::vector<std::pair<std::string, std::string>> rows;
        for (const auto& [code, meaning] : program.exit_codes) {
            rows.emplace_back(std::to_string(code), meaning);
        }
        text += table_of(rows, "exit codes");
    } else {
        text += program.name + " --help-all shows all options.\n";
    }
    return text;
}

}  // namespace mastic::config
