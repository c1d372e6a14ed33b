// From a command line, the environment and a TOML file to the values of the options.
#pragma once

#include <mastic/config/program.hpp>
#include <mastic/config/schema.hpp>
#include <mastic/config/variables.hpp>

namespace mastic::config {

// PROGRAM [COMMAND] [CONFIG.toml] [ARGUMENT]... [--section.key VALUE | --section.key=VALUE]...
//
// Fills the targets of the options: flag > environment > file > default (the targets' values at declaration).
// An empty variable counts as not set. With --help, --help-all, --version or --generate only the command line
// is read.
//
// Throws Error(usage) whose message has a line for each mistake found, as
//   run.toml:3:1: unknown key 'train.epoch'; did you mean 'train.epochs'?
//   MASTIC_TRAIN_EPOCHS: '12abc' is not an integer
//   --train.epochs: '0' is out of range: it must be at least 1
// and then leaves targets in an unspecified mixture.
Invocation parse(const ProgramInfo& program, Schema& schema, int argc, const char* const* argv,
                 const Variables& variables);

}  // namespace mastic::config
