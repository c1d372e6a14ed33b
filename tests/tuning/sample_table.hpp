// A small table as mastic-tune would write it.
#pragma once

#include <mastic/tuning/table.hpp>

namespace mastic::tuning {

// Shapes 2x2 and 1x2; sizes 64, 4K and 256K of all collectives. Small ones take recursive doubling (or its like) over
// mpi, large ones a ring over tcp (2x2) or mpi (1x2).
TuningTable sample_table();

Candidate candidate(comm::TransportKind transport, const std::string& algorithm, double median_us,
                    Verdict verdict = Verdict::measured);

}  // namespace mastic::tuning
