// The trainings of a replay: an endless queue, the same for every policy.
#pragma once

#include <cstdint>
#include <vector>

#include <mastic/schedule/throughput_curve.hpp>

namespace mastic::schedule {

struct Workload {
    std::vector<NamedCurve> curves;  // in any unit per second; each training has one of them
    int slots = 10;                  // trainings at a time; when one ends, the next of the queue comes
    int least = 1;                   // nodes of each
    int most = 64;
    double median_work = 57'600;  // node-seconds that one node alone would need
    double spread = 0.8;          // standard deviation of the logarithm of the work
    double noise = 0.02;          // relative standard error of a throughput measured for 20 s
    std::uint64_t seed = 1;
};

struct WorkloadItem {
    std::size_t curve = 0;
    double work = 0;  // node-seconds of one node
};

// The n-th of the queue, a function of the seed and n alone.
WorkloadItem training_of(const Workload& workload, std::int64_t n);

// Standard normal, from two uniform draws (Box and Muller 1958).
double normal_draw(std::uint64_t seed, std::uint64_t counter);

}  // namespace mastic::schedule
