// Carries out the requests that wait in a state directory, as far as they change files: limits, weights, states, drained
// nodes. What follows from these (pilots that leave) is the manager's next round.
#pragma once

#include <mastic/schedule/manager/event_log.hpp>
#include <mastic/schedule/manager/state_directory.hpp>

namespace mastic::schedule {

// One request. Doing it twice is as doing it once, so that a manager that dies between the change and the answer does no
// harm. A training that has no pilots is stopped at once; one that has some becomes `stopping`.
Answer carry_out(const Request& request, const StateDirectory& state, double now_s);

// All of them, oldest first; each is answered and, if there is a log, logged. True: a shutdown was among them.
bool serve_inbox(const StateDirectory& state, double now_s, EventLog* log);

}  // namespace mastic::schedule
