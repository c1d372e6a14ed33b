// The trainer, as the program that users start knows it: a file beside it.
#pragma once

#include <mastic/engine/front/program.hpp>

namespace mastic::engine {

// Becomes the trainer: same process, so signals, files and the launcher's connection go on. An installation for login nodes
// has none: then the versions are those of this program, and commands throw Error(environment).
Engine trainer_program();

}  // namespace mastic::engine
