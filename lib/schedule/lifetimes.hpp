// How long idle nodes stay idle, learned from those that went.
#pragma once

#include <vector>

namespace mastic::schedule {

class Lifetimes {
  public:
    Lifetimes();
    // A node was taken after having been idle for so long.
    void add(double seconds);
    // Mean of what is left for a node that has been idle for `age_s`, over the lifetimes seen that were longer; 600 s
    // before anything was seen, and the age itself beyond all of them. Nodes that are still idle are not in it.
    double expected_residual_s(double age_s) const;

  private:
    struct Bin {
        double count = 0;
        double seconds = 0;
    };
    std::vector<Bin> bins_;  // by lifetime, logarithmic
};

}  // namespace mastic::schedule
