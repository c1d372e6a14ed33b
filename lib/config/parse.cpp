#include <mastic/config/parse.hpp>

#include <algorithm>

#include <mastic/config/command_line.hpp>
#include <mastic/config/invocation.hpp>
#include <mastic/config/problems.hpp>
#include <mastic/config/sources.hpp>

namespace mastic::config {

Invocation parse(const ProgramInfo& program, Schema& schema, int argc, const char* const* argv,
                 const Variables& variables) {
    schema.verify();
    Problems problems;
    const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    const CommandLine line = split_command_line(schema, arguments, problems);
    Invocation invocation = read_invocation(program, line, problems);
    const bool only_text = invocation.version || !invocation.generate.empty();
    if (invocation.help || invocation.help_all || (only_text && problems.empty())) {
        return invocation;
    }
    if (problems.empty()) {
        // Not after a misspelt flag: it leaves its value among the arguments, which is not worth a second
        // message.
        check_arguments(program, invocation, problems);
    }
    for (OptionBase* option : schema.options()) {
        option->reset();
    }
    if (!invocation.config_file.empty()) {
        apply_file(schema, invocation.config_file, problems);
    }
    apply_environment(program, schema, variables, problems);
    apply_flags(schema, line, problems);
    problems.throw_if_any("`" + program.name + " --help-all` lists all options");
    for (const OptionBase* option : schema.options()) {
        if (!option->has_toml_key() && option->is_switch() && option->text() == "true") {
            invocation.switches.insert(option->key());
        }
    }
    return invocation;
}

}  // namespace mastic::config
