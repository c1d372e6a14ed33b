// What the commands that talk to a manager share: the state directory is their first argument, requests go to its inbox.
#pragma once

#include <string>
#include <vector>

#include <mastic/schedule/command/command_context.hpp>
#include <mastic/schedule/manager/state_directory.hpp>

namespace mastic::schedule {

double seconds_since_1970();

// Throws the errors of StateDirectory::open.
StateDirectory open_state(const CommandContext& context);

// Posts the requests and, if a manager lives, waits for its answers (at most --wait for all of them). Prints what came of each.
// Returns 0; throws Error(usage) with the last refusal, if the manager refused one. A dry run only says what would be asked.
int ask(const CommandContext& context, const StateDirectory& state, std::vector<Request> requests);

}  // namespace mastic::schedule
