// Commands that only read a table.
#include <iostream>

#include <mastic/core/file.hpp>
#include <mastic/tuning/command/command_context.hpp>
#include <mastic/tuning/table_report.hpp>

namespace mastic::tuning {

int show_command(const CommandContext& context) {
    std::cout << table_text(TuningTable::load(context.invocation.positionals.at(0)));
    return 0;
}

int report_command(const CommandContext& context) {
    const auto& arguments = context.invocation.positionals;
    const std::filesystem::path table = arguments.at(0);
    const std::filesystem::path out = arguments.size() > 1
                                          ? std::filesystem::path(arguments[1])
                                          : std::filesystem::path(table).replace_extension(".html");
    write_file_atomically(out, table_page(TuningTable::load(table), table.filename().string()));
    std::cout << "wrote " << out.string() << ": open it in a browser\n";
    return 0;
}

}  // namespace mastic::tuning
