// A selection file for MPICH 4: which of its own algorithms an allreduce takes, by size. Set in
// MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE it replaces MPICH's built-in table as a whole, so it is that table with
// other rules for the allreduce within a communicator.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mastic/core/bytes.hpp>

namespace mastic::tuning {

struct MpichAlgorithm {
    const char* name;      // as MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM takes it
    int value;             // as that variable's number
    const char* function;  // as a selection file names it; null: auto
};
// Of MPICH 4.0: auto, recursive_doubling, reduce_scatter_allgather, smp.
std::span<const MpichAlgorithm> mpich_algorithms();

struct MpichRow {
    Bytes up_to;  // bytes of an allreduce; the last row is for all above, too
    const MpichAlgorithm* algorithm;
};

// Throws Error(environment) if `builtin` is not the table of a known MPICH. Where an algorithm is impossible (an
// operation of the user, fewer elements than ranks) recursive doubling stays. `auto` keeps the built-in rules of that
// size.
std::string mpich_selection(std::string_view builtin, std::span<const MpichRow> rows);

// The same file with a rule that names an algorithm which does not exist: a library that reads it must refuse to start.
std::string mpich_canary(const std::string& selection);

}  // namespace mastic::tuning
