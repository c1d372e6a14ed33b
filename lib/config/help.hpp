// The texts that describe a program, generated from the declarations of its options.
#pragma once

#include <string>

#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>

namespace mastic::config {

// --help shows the commands and the usual options, --help-all (`everything`) also the advanced ones with
// their variables. At most 80 columns.
std::string help_text(const ProgramInfo& program, const Schema& schema, bool everything);

// What follows an option's help text: "one of sgd, adamw; default sgd". "" if there is nothing to say.
std::string remarks(const OptionBase& option);

// "--train.epochs INT", "--dry-run"
std::string flag_with_value(const OptionBase& option);
std::string flag_with_value(const StandardFlag& flag);

// "[CONFIG.toml] RUN_DIR..."
std::string argument_synopsis(const Command& command);

}  // namespace mastic::config
