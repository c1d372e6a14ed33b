// Does a table's promise hold? Judged at sizes that were not measured, by ratios taken inside each repetition.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <mastic/core/bytes.hpp>
#include <mastic/tuning/table.hpp>

namespace mastic::tuning {

// In the middle (of the logarithms) between neighbours, as whole elements of 4 bytes.
std::vector<Bytes> held_out_sizes(std::span<const Bytes> measured);

struct Ratio {
    double median = 1;
    double q1 = 1;
    double q3 = 1;
};
// Of paired times.
Ratio ratio_of(const std::vector<double>& ours, const std::vector<double>& others);
std::string to_string(const Ratio& ratio);  // "1.03 (1.01 to 1.06)"

// Slower by more than this, even at the lower quartile, breaks the promise.
inline constexpr double near_best = 1.05;
inline constexpr double not_slower = 1.02;

struct Finding {
    comm::Collective collective;
    Bytes size;
    comm::Choice choice;
    comm::Choice best;
    Ratio to_best;     // time of the choice / time of the best of all candidates
    Ratio to_default;  // time of the choice / time of the MPI library's own operation

    bool holds() const { return to_best.q1 <= near_best && to_default.q1 <= not_slower; }
};
std::string findings_text(std::span<const Finding> findings);

// The MPI library's operation on the whole buffer.
comm::Choice library_default(comm::Collective collective, Bytes size);

}  // namespace mastic::tuning
