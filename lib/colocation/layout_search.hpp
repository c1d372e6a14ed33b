// How many ranks on each device? Tries 1, 2, 4, ... until another doubling does not pay. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <mastic/core/bytes.hpp>

namespace mastic::colocation {

struct Trial {
    int ranks_per_device = 1;
    double samples_per_s = 0;  // over all ranks, after the warm-up
    Bytes
        memory_before;  // in use on the fullest device, by others than the trial; 0: not known, as the next two
    Bytes memory_peak;  // with the trial
    Bytes memory_total;
    std::string problem;  // why there is no throughput; empty: there is one
};

struct SearchRules {
    int most = 8;               // ranks on a device
    double least_gain = 0.03;   // a doubling that gains less was the last
    double memory_share = 0.9;  // what the next trial may fill of a device, by the peak of this one
};

struct LayoutChoice {
    int ranks_per_device = 1;
    double samples_per_s = 0;
    std::vector<Trial> trials;
    std::string end;  // why the search stopped: "4 ranks gain 1.2 %"
};

// A trial with a problem ends the search; throws Error(environment) if it was the first.
LayoutChoice choose_layout(const SearchRules& rules, const std::function<Trial(int ranks_per_device)>& run);

}  // namespace mastic::colocation
