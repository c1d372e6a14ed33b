#include <mastic/config/program.hpp>

#include <algorithm>

namespace mastic::config {

const std::vector<StandardFlag>& standard_flags() {
    using I = Invocation;
    static const std::vector<StandardFlag> flags = {
        {"config", "FILE", "read options from this TOML file", nullptr, &I::config_file},
        {"dry-run", "", "check everything, write nothing", &I::dry_run, nullptr},
        {"print-config", "", "print every option with the origin of its value, and stop", &I::print_config,
         nullptr},
        {"help", "", "show the usual options, and stop", &I::help, nullptr},
        {"help-all", "", "show all options, and stop", &I::help_all, nullptr},
        {"version", "", "print the versions of the program and of its libraries, and stop", &I::version,
         nullptr},
        {"json", "", "as JSON: --version, and what a command shows", &I::json, nullptr},
        {"generate", "WHAT",
         "write the manual page (man) or the shell completion (bash-completion), and stop", nullptr,
         &I::generate},
    };
    return flags;
}

const StandardFlag* find_standard_flag(std::string_view name) {
    const auto found = std::ranges::find(standard_flags(), name, &StandardFlag::name);
    return found != standard_flags().end() ? &*found : nullptr;
}

const std::vector<std::string>& generators() {
    static const std::vector<std::string> names = {"man", "bash-completion"};
    return names;
}

}  // namespace mastic::config
