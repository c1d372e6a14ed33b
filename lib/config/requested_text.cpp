#include <mastic/config/requested_text.hpp>

#include <mastic/config/bash_completion.hpp>
#include <mastic/config/help.hpp>
#include <mastic/config/man_page.hpp>
#include <mastic/config/resolved.hpp>

namespace mastic::config {

std::optional<std::string> requested_text(const ProgramInfo& program, const Schema& schema,
                                          const Invocation& invocation,
                                          const std::function<LibraryVersions()>& libraries) {
    if (invocation.help || invocation.help_all) {
        return help_text(program, schema, invocation.help_all);
    }
    if (invocation.version) {
        return invocation.json ? version_json(program.name, libraries())
                               : version_text(program.name, libraries());
    }
    if (invocation.generate == "man") {
        return man_page(program, schema);
    }
    if (invocation.generate == "bash-completion") {
        return bash_completion(program, schema);
    }
    if (invocation.print_config) {
        return to_toml(schema, true);
    }
    return std::nullopt;
}

}  // namespace mastic::config
