// Idle nodes that are left to others, so that a small job of theirs starts at once, without waiting for a pilot to leave. Pure.
//
// A node is spare as long as it is idle and no pilot has or awaits it, whoever else keeps it free. When others use spare nodes,
// pilots give as many back, unless those that leave already will do. So that no pilot comes and goes with each job of others:
// only what is missing for a while is given back, and what was given back is not taken again for some minutes.
#pragma once

#include <optional>
#include <string>

namespace mastic::schedule {

struct NodesNow {
    int startable = 0;  // a pilot could be started there now
    int idle = 0;       // without a pilot, also those where none could be started
    int leaving = 0;    // with pilots that leave: idle soon
    int held = 0;       // with pilots that stay, or are awaited by them
};

class SpareNodes {
  public:
    explicit SpareNodes(int wanted) : wanted_(wanted) {}

    struct Share {
        int pilots = 0;     // may come; below 0: so many must go
        std::string limit;  // why fewer may come than could be started; empty: that is not so
    };
    // Once a round: what must go counts as given back.
    Share share(const NodesNow& now, double now_s);
    // Of the idle nodes.
    int spare(const NodesNow& now) const;

  private:
    int missing_for_long(const NodesNow& now, double now_s);

    int wanted_;
    std::optional<double> missing_since_s_;
    int given_back_ = 0;  // a short while ago; of more than `wanted_` no more is needed against coming and going
    double not_taken_until_s_ = 0;
};

}  // namespace mastic::schedule
