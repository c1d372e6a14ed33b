#include <mastic/config/command_line.hpp>

#include <algorithm>

#include <CLI/CLI.hpp>

#include <mastic/config/program.hpp>
#include <mastic/config/text.hpp>
#include <mastic/core/suggest.hpp>

namespace mastic::config {
namespace {

struct FlagKind {
    bool takes_value;
};

std::map<std::string, FlagKind> known_flags(const Schema& schema) {
    std::map<std::string, FlagKind> known;
    for (const StandardFlag& flag : standard_flags()) {
        known["--" + std::string(flag.name)] = {!flag.value.empty()};
    }
    for (const OptionBase* option : schema.options()) {
        known[option->flag()] = {!option->is_switch()};
    }
    return known;
}

// Brings the words into the form that CLI11 reads as we mean it: it would take the next word as the value of
// `--key=`, and the next flag as the value of a flag that lacks one.
std::vector<std::string> prepare(const std::vector<std::string>& arguments,
                                 const std::map<std::string, FlagKind>& known, Problems& problems) {
    std::vector<std::string> prepared;
    const auto takes_value = [&](const std::string& word) {
        const auto found = known.find(word);
        return found != known.end() && found->second.takes_value;
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        if (takes_value(word)) {
            if (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")) {
                problems.add(word, "a value is missing behind it",
                             "a value that starts with -- is given as " + word + "=VALUE");
            } else {
                prepared.push_back(word);
                prepared.push_back(arguments[++i]);
            }
        } else if (word.ends_with('=') && takes_value(word.substr(0, word.size() - 1))) {
            prepared.push_back(word.substr(0, word.size() - 1));
            prepared.emplace_back();
        } else {
            prepared.push_back(word);
        }
    }
    return prepared;
}

void report_unknown(const Schema& schema, const std::string& word,
                    const std::map<std::string, FlagKind>& known, Problems& problems) {
    const std::string flag = word.substr(0, word.find('='));
    const std::string key = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
    std::string near;
    if (key.find('.') != std::string::npos) {
        near = schema.nearest_key(key);
        near.insert(0, near.empty() ? "" : "--");
    } else {
        std::vector<std::string> candidates;
        std::ranges::transform(known, std::back_inserter(candidates),
                               [](const auto& entry) { return entry.first; });
        near = nearest_word(flag, candidates);
    }
    problems.add(flag, "unknown option" + did_you_mean(near));
}

}  // namespace

CommandLine split_command_line(const Schema& schema, const std::vector<std::string>& arguments,
                               Problems& problems) {
    const auto known = known_flags(schema);
    const auto end_of_flags = std::ranges::find(arguments, "--");
    CLI::App app;
    app.set_help_flag("");
    app.allow_extras();
    std::map<std::string, CLI::Option*> declared;
    std::vector<std::string> unused;  // CLI11 tells options from switches by whether they have a target
    for (const auto& [flag, kind] : known) {
        const std::string names = flag == "--help" ? "-h,--help" : flag;
        declared[flag] =
            kind.takes_value ? app.add_option(names, unused)->allow_extra_args(false) : app.add_flag(names);
    }
    CommandLine line;
    try {
        auto words = prepare({arguments.begin(), end_of_flags}, known, problems);
        std::ranges::reverse(words);
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        problems.add("command line", error.what());
        return line;
    }
    for (const auto& [flag, option] : declared) {
        if (!option->results().empty()) {
            line.flags[flag.substr(2)] = option->results();
        }
    }
    for (const std::string& word : app.remaining()) {
        if (word.starts_with('-') && word != "-") {
            report_unknown(schema, word, known, problems);
        } else {
            line.positionals.push_back(word);
        }
    }
    if (end_of_flags != arguments.end()) {
        line.positionals.insert(line.positionals.end(), end_of_flags + 1, arguments.end());
    }
    return line;
}

}  // namespace mastic::config
