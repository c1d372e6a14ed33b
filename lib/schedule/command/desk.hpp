// What the commands that talk to a manager share: the state directory is their first argument, requests go to its inbox.
#pragma once

#include <string>

#include <mastic/schedule/command/command_context.hpp>
#include <mastic/schedule/manager/state_directory.hpp>

namespace mastic::schedule {

double seconds_since_1970();

// Throws the errors of StateDirectory::open.
StateDirectory open_state(const CommandContext& context);

// Posts the request and, if a manager lives, waits for its answer (at most --wait). Prints what came of it. Returns 0, or 2 if
// the manager refused. A dry run only says what would be asked.
int ask(const CommandContext& context, const StateDirectory& state, Request request);

}  // namespace mastic::schedule
