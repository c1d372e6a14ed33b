// mastic-train: from the command line to an exit code.
//
// It is two programs, since loading libtorch takes 0.7 s of a core, which a job's last command or a look at a run should
// not wait for. The one that users start reads the command line and answers what needs no network: help, run directories,
// batch scripts. For the rest it becomes the other one, the trainer, which reads the command line again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <mastic/core/version.hpp>
#include <mastic/engine/front/command_context.hpp>

namespace mastic::engine {

// Who does what needs torch.
struct Engine {
    std::function<LibraryVersions(const std::vector<std::string>& command_line)> versions;
    std::function<int(const CommandContext& context)> command;  // "" (train), evaluate, predict, export
};

int run_mastic_train(int argc, char** argv, const Engine& engine);

}  // namespace mastic::engine
