#include <mastic/config/man_page.hpp>

#include <algorithm>
#include <cctype>

#include <mastic/config/help.hpp>

namespace mastic::config {
namespace {

// Text that roff shows as it is: no escapes, no hyphen for a minus, no request at the start of a line.
std::string escaped(std::string_view text) {
    std::string result;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) {
            result += "\\&";
        }
        line_start = c == '\n';
        if (c == '\\') {
            result += "\\e";
        } else if (c == '-') {
            result += "\\-";
        } else {
            result += c;
        }
    }
    return result;
}

std::string bold(std::string_view text) {
    return "\\fB" + escaped(text) + "\\fR";
}
std::string italic(std::string_view text) {
    return "\\fI" + escaped(text) + "\\fR";
}

// A flag and what stands behind it.
std::string flag_tag(std::string_view flag, std::string_view value) {
    std::string tag = bold(flag);
    if (!value.empty()) {
        tag.append(" ").append(italic(value));
    }
    return tag;
}

std::string heading(std::string_view text) {
    return ".SH " + std::string(text) + "\n";
}

// A tagged paragraph; `tag` is roff already.
std::string tagged(const std::string& tag, std::string_view text) {
    return ".TP\n" + tag + "\n" + (text.empty() ? "\\&" : escaped(text)) + "\n";
}

std::string sentence(std::string text) {
    if (!text.empty()) {
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
        text += text.back() == '.' ? "" : ".";
    }
    return text;
}

std::string roff_paragraphs(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = text.find("\n\n");
        result += ".PP\n" + escaped(text.substr(0, end)) + "\n";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    }
    return result;
}

std::string synopsis(const ProgramInfo& program) {
    std::string text = heading("SYNOPSIS");
    for (const Command& command : program.commands) {
        text += bold(program.name) + " ";
        if (!command.name.empty()) {
            text += bold(command.name) + " ";
        }
        text +=
            italic(argument_synopsis(command)) + " [" + flag_tag("--section.key", "VALUE") + "]...\n.br\n";
    }
    return text;
}

std::string roff_commands(const ProgramInfo& program) {
    std::string text = heading("COMMANDS");
    for (const Command& command : program.commands) {
        const std::string name = command.name.empty() ? "" : bold(command.name) + " ";
        text += tagged(name + italic(argument_synopsis(command)), sentence(command.help));
        for (const Positional& positional : command.positionals) {
            text += ".RS\n" + tagged(italic(positional.name), sentence(positional.help)) + ".RE\n";
        }
    }
    return program.commands.empty() ? "" : text;
}

std::string option_text(const OptionBase& option) {
    std::string text = sentence(option.help());
    if (const std::string more = sentence(remarks(option)); !more.empty()) {
        text.append(" ").append(more);
    }
    if (option.has_toml_key()) {
        text.append(" Variable ").append(option.environment_name()).append(".");
    }
    return tagged(flag_tag(option.flag(), option.is_switch() ? "" : option.value_name()), text);
}

std::string options(const Schema& schema) {
    std::string text = heading("OPTIONS");
    for (const Schema::Section& section : schema.sections()) {
        if (section.options.empty()) {
            continue;
        }
        text.append(".SS ").append(section.name.empty() ? "Switches" : escaped(section.name)).append("\n");
        text += section.help.empty() ? "" : escaped(sentence(section.help)) + "\n";
        for (const OptionBase* option : section.options) {
            text += option_text(*option);
        }
    }
    text += ".SS Of every mastic program\n";
    for (const StandardFlag& flag : standard_flags()) {
        const std::string short_form = flag.name == "help" ? bold("-h") + ", " : "";
        const std::string tag = short_form + flag_tag("--" + std::string(flag.name), flag.value);
        text += tagged(tag, sentence(std::string(flag.help)));
    }
    return text;
}

std::string examples(const ProgramInfo& program) {
    std::string text = heading("EXAMPLES");
    for (const auto& [call, meaning] : program.examples) {
        text += ".PP\n" + escaped(sentence(meaning)) + "\n.PP\n.RS 4\n.nf\n" + escaped(call) + "\n.fi\n.RE\n";
    }
    return program.examples.empty() ? "" : text;
}

std::string exit_status(const ProgramInfo& program) {
    std::string text = heading("\"EXIT STATUS\"");
    for (const auto& [code, meaning] : program.exit_codes) {
        text += tagged(bold(std::to_string(code)), sentence(meaning));
    }
    return program.exit_codes.empty() ? "" : text;
}

}  // namespace

std::string man_page(const ProgramInfo& program, const Schema& schema) {
    std::string title = program.name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
    return ".\\\" Generated by " + program.name + " --generate man\n" +                                    //
           ".TH " + escaped(title) + " 1 \"\" \"mastic " + escaped(program.version) + "\" \"mastic\"\n" +  //
           ".nh\n.ad l\n" +  // names must not be broken at line ends
           heading("NAME") + escaped(program.name) + " \\- " + escaped(program.one_line) + "\n" +  //
           synopsis(program) + heading("DESCRIPTION") + roff_paragraphs(program.description) + roff_commands(program) +
           options(schema) + heading("ENVIRONMENT") +
           roff_paragraphs(
               "Every option --section.key can be given by the variable MASTIC_SECTION_KEY: upper case, '_' "
               "for points and dashes. The flag wins over the variable, the variable over the file. An empty "
               "variable counts as not set; a variable that resembles an option but is none is an error.") +
           heading("FILES") +
           roff_paragraphs(
               "CONFIG.toml: every option --section.key is `key` under [section]. --print-config writes such "
               "a "
               "file with all values. A SIZE is a number of bytes or text such as \"64K\" (K, M, G, T are "
               "binary); a TIME is a number of seconds or text such as \"250ms\", \"10m\", \"1:30:00\".") +
           exit_status(program) + examples(program);
}

}  // namespace mastic::config
